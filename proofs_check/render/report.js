// Filters by paper, verdict and text, their state in the address. Without script all claims show.
(function () {
  "use strict";
  var form = document.getElementById("-filter");
  var claims = Array.prototype.slice.call(document.querySelectorAll("article"));
  if (!form || !claims.length) return;
  var said = form.querySelector("output");
  var texts = new Map();
  var links = new Map();
  document.querySelectorAll("nav.contents li a").forEach(function (a) {
    links.set(a.getAttribute("href").slice(1), a.parentNode);
  });

  function text(claim) {
    if (!texts.has(claim)) texts.set(claim, claim.textContent.toLowerCase());
    return texts.get(claim);
  }

  function wanted() {
    var data = new FormData(form);
    return {
      words: String(data.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean),
      paper: String(data.get("paper") || ""),
      verdicts: data.getAll("verdict")
    };
  }

  function apply() {
    var want = wanted(), shown = 0;
    claims.forEach(function (claim) {
      var has = claim.dataset.verdicts.split(" ");
      var keep = (!want.paper || claim.dataset.paper === want.paper)
        && (!want.verdicts.length || want.verdicts.some(function (v) { return has.indexOf(v) >= 0; }))
        && want.words.every(function (w) { return text(claim).indexOf(w) >= 0; });
      claim.hidden = !keep;
      var link = links.get(claim.id);
      if (link) link.hidden = !keep;
      shown += keep ? 1 : 0;
    });
    document.querySelectorAll("section.claims").forEach(function (section) {
      section.hidden = !section.querySelector("article:not([hidden])");
    });
    said.textContent = shown + " of " + claims.length + " claims";
  }

  function remember() {
    var query = new URLSearchParams();
    new FormData(form).forEach(function (value, key) { if (value) query.append(key, value); });
    var search = query.toString();
    history.replaceState(null, "", location.pathname + (search ? "?" + search : "") + location.hash);
  }

  function recall() {
    var query = new URLSearchParams(location.search);
    form.elements.q.value = query.get("q") || "";
    form.elements.paper.value = query.get("paper") || "";
    if (form.elements.paper.selectedIndex < 0) form.elements.paper.selectedIndex = 0;
    form.querySelectorAll("input[name=verdict]").forEach(function (box) {
      box.checked = query.getAll("verdict").indexOf(box.value) >= 0;
    });
  }

  // A permalink wins over a filter that would hide what it names.
  function show() {
    var target = document.getElementById(location.hash.slice(1));
    var claim = target && target.closest("article");
    if (claim && claim.hidden) {
      form.reset();
      apply();
      remember();
      target.scrollIntoView();
    }
  }

  form.hidden = false;
  recall();
  apply();
  show();
  form.addEventListener("input", function () { apply(); remember(); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("reset", function () { setTimeout(function () { apply(); remember(); }, 0); });
  window.addEventListener("hashchange", show);
  document.addEventListener("keydown", function (event) {
    var typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      form.elements.q.focus();
    }
  });
})();
