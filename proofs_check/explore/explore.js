// The page: what is asked when, and where the answers go. All mathematics is the server's.
(function () {
  "use strict";
  var $ = function (id) { return document.getElementById(id); };
  var LISTS = ["tau", "theta", "slope", "intercept"];
  // subject: the target that the gate shown was fitted to. What is typed is no target before it was fitted.
  var gate = null, subject = "", fitted = null, bound = null, drawn = null, turn = 0;

  // One question of a kind at a time; while it is out only the latest of those that follow is kept.
  var out = {}, next = {};
  function ask(kind, task, then) {
    if (out[kind]) { next[kind] = [task, then]; return; }
    out[kind] = true;
    var body = Object.assign({ ask: kind, target: subject, window: [$("lo").value, $("hi").value] }, task);
    fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })
      .then(function (r) { return r.json(); })
      .catch(function () { return { refused: "no answer: is gateproof explore still running?" }; })
      .then(function (found) {
        out[kind] = false;
        var later = next[kind];
        delete next[kind];
        if (later) { ask(kind, later[0], later[1]); return; }
        then(found);
      });
  }

  function trouble(text) {
    $("trouble").textContent = text || "";
    $("target").setAttribute("aria-invalid", text ? "true" : "false");
  }

  function fit() {
    trouble("");
    $("r-best").textContent = "searching";
    document.body.classList.add("busy");
    var wanted = $("target").value, k = Number($("k").value);
    ask("fit", { target: wanted, k: k, sharpness: $("sharpness").value }, function (found) {
      document.body.classList.remove("busy");
      if (found.refused) { trouble(found.refused); best(); return; }
      gate = {};
      subject = wanted;
      LISTS.forEach(function (key) { gate[key] = found[key].slice(); });
      fitted = Object.assign(found, { asked: k });
      controls();
      changed();
    });
  }

  function enclosed(v) { return v.lo === v.hi ? v.lo : "[" + v.lo + ", " + v.hi + "]"; }

  // Quick things follow the slider; proofs follow when it rests.
  var rest = null;
  function changed() {
    if (!gate) return;
    turn += 1;
    bound = null;
    draw();
    $("r-bound").textContent = "waiting";
    best();
    $("r-of").textContent = "about " + subject + ", K = " + gate.slope.length;
    remember();
    clearTimeout(rest);
    rest = setTimeout(prove, 350);
  }

  function draw() {
    ask("draw", { gate: gate }, function (found) {
      if (found.refused) { trouble(found.refused); return; }
      trouble("");
      drawn = found;
      show();
    });
  }

  function show() {
    var d = drawn;
    window.chart($("c-gate"), "Target, gate and branches over x", d.x,
      d.lines.map(function (y, i) { return { y: y, name: "branch b" + i % 6, apart: true }; })
        .concat([{ y: d.target, name: "target" }, { y: d.gate, name: "gate" }]));
    window.chart($("c-gates"), "The gates over x", d.x,
      d.gates.map(function (y, i) { return { y: y, name: "branch solid b" + i % 6 }; }));
    var levels = bound ? [{ y: bound, name: "bound" }, { y: -bound, name: "bound" }] : [];
    window.chart($("c-error"), "Gate less target over x", d.x, [{ y: d.error, name: "gate" }], levels,
      d.worst ? [{ x: d.worst.x, y: d.worst.error }] : []);
    $("r-seen").textContent = d.worst
      ? Math.abs(d.worst.error).toPrecision(6) + " at x = " + d.worst.x.toPrecision(4) + ", in the window, by samples"
      : "the target has no finite value in the window";
    best();
  }

  function untouched() {
    return fitted && LISTS.every(function (key) { return String(fitted[key]) === String(gate[key]); });
  }

  function best() {
    var same = untouched();
    $("r-best").textContent = !fitted ? "" : (same ? "this gate: " : "the fitted gate: ")
      + enclosed(fitted.error) + " (" + fitted.evidence + ")"
      + (fitted.lower_bound ? "; no gate of this kind is below " + fitted.lower_bound : "")
      + (fitted.k < fitted.asked ? "; K = " + fitted.k + " suffices" : "")
      + (same ? "" : ". Fit again to return to it.");
  }

  function prove() {
    var mine = turn;
    function current(then) { return function (found) { if (mine === turn) then(found); }; }
    if (untouched() && fitted.evidence === "proved" && fitted.error.hi === "0") {
      bound = 0;
      $("r-bound").textContent = "0 on all of R, proved";
      if (drawn) show();
    } else ask("certify", { gate: gate }, current(function (found) {
      var cell = $("r-bound");
      if (found.refused) { cell.textContent = found.refused; return; }
      if (found.kind === "infinite") { cell.textContent = "infinite on R: the outer branches are not the target's ends"; return; }
      if (!found.value) { cell.textContent = "not certified here" + (found.reason ? ": " + found.reason : ""); return; }
      cell.textContent = enclosed(found.value) + " on all of R";
      bound = Number(found.value.hi);
      if (drawn) show();
    }));
    ask("kappa", { gate: gate }, current(function (found) {
      rows($("r-kappa"), ["", "point", "theta", "kappa"], found, function (row) {
        return [row.reading, row.theta, row.kappa === null ? row.reason : row.kappa];
      });
    }));
    ask("field", { gate: gate, sigma_b2: $("bias").value }, current(function (found) {
      rows($("r-field"), ["", "sigma_w\u00b2", "q*", "chi_1", "stable", "beta_q", "xi_q"], found, function (row) {
        return [row.sigma_w2, row.q_star, row.chi_1, row.stable === null ? "" : row.stable ? "yes" : "no", row.beta_q, row.xi_q];
      });
    }));
  }

  function rows(table, heads, found, cells) {
    table.replaceChildren();
    if (found.refused) { line(table, "td", [found.refused]); return; }
    line(table, "th", heads);
    ["target", "gate"].forEach(function (name) {
      found[name].rows.forEach(function (row) { line(table, "td", [name].concat(cells(row))); });
      if (!found[name].rows.length) line(table, "td", [name, found[name].reason || found[name].status], heads.length - 1);
    });
  }

  // The last cell may span several columns.
  function line(table, kind, texts, span) {
    var row = table.insertRow();
    texts.forEach(function (text, i) {
      var cell = document.createElement(kind);
      if (kind === "th") cell.scope = "col";
      cell.textContent = text === null || text === undefined ? "" : text;
      if (span && i === texts.length - 1) cell.colSpan = span;
      row.append(cell);
    });
  }

  // --- controls -------------------------------------------------------------

  function controls() {
    var box = $("sliders"), lo = Number($("lo").value) || -6, hi = Number($("hi").value) || 6;
    box.replaceChildren();
    var shared = $("sharpness").value === "shared" && gate.tau.length > 0;
    gate.tau.forEach(function (t, i) {
      if ((shared && i > 0) || t === "oo") return;
      // A sharpness is moved by its logarithm.
      slider(box, shared ? "tau" : "tau " + (i + 1), Math.log10(Number(t)), -2, 2, 0.005, function (v) {
        var text = String(Number(Math.pow(10, v).toPrecision(5)));
        if (shared) gate.tau = gate.tau.map(function () { return text; }); else gate.tau[i] = text;
        return text;
      }, function (text) {
        if (shared) gate.tau = gate.tau.map(function () { return text; }); else gate.tau[i] = text;
        return Math.log10(Number(text));
      }, t);
    });
    gate.theta.forEach(function (h, i) {
      slider(box, "theta " + (i + 1), Number(h), lo, hi, 0.005, function (v) {
        gate.theta[i] = String(Number(v.toFixed(4)));
        return gate.theta[i];
      }, function (text) {
        gate.theta[i] = text;
        return Number(text);
      }, h);
    });
    var table = $("lines");
    table.replaceChildren();
    line(table, "th", ["branch", "slope", "intercept"]);
    gate.slope.forEach(function (_, i) {
      var row = table.insertRow();
      row.insertCell().textContent = String(i + 1);
      ["slope", "intercept"].forEach(function (key) {
        var input = document.createElement("input");
        input.value = gate[key][i];
        input.size = 12;
        input.setAttribute("aria-label", key + " of branch " + (i + 1));
        input.addEventListener("change", function () { gate[key][i] = input.value.trim(); changed(); });
        row.insertCell().append(input);
      });
    });
  }

  function slider(box, name, value, lo, hi, step, moved, typed, text) {
    var label = document.createElement("label"), said = document.createElement("span");
    var range = document.createElement("input"), exact = document.createElement("input");
    said.textContent = name;
    Object.assign(range, { type: "range", min: Math.min(lo, value), max: Math.max(hi, value), step: step });
    range.value = value;
    exact.value = text;
    exact.size = 12;
    exact.setAttribute("aria-label", name + ", exactly");
    range.setAttribute("aria-label", name);
    range.addEventListener("input", function () { exact.value = moved(Number(range.value)); changed(); });
    exact.addEventListener("change", function () {
      var at = typed(exact.value.trim());
      // What is no number goes to the server as it is, which says so.
      if (isFinite(at)) range.value = at;
      changed();
    });
    label.append(said, range, exact);
    box.append(label);
  }

  // --- out ------------------------------------------------------------------

  document.querySelectorAll("[data-form]").forEach(function (button) {
    button.addEventListener("click", function () {
      if (!gate) return;
      ask("export", { gate: gate, form: button.dataset.form }, function (found) {
        $("out").hidden = false;
        $("out").textContent = found.refused || found.text;
        $("copy").hidden = Boolean(found.refused);
        $("copied").textContent = "";
      });
    });
  });
  $("copy").addEventListener("click", function () {
    navigator.clipboard.writeText($("out").textContent).then(
      function () { $("copied").textContent = "copied"; },
      function () { $("copied").textContent = "the browser does not allow it; select the text"; });
  });

  // The address holds target, window and gate, so that a link shows the same.
  function remember() {
    var query = new URLSearchParams({ target: subject, lo: $("lo").value, hi: $("hi").value, sharpness: $("sharpness").value });
    LISTS.forEach(function (key) { query.set(key, gate[key].join(" ")); });
    history.replaceState(null, "", "#" + query.toString());
  }

  function recall() {
    var query = new URLSearchParams(location.hash.slice(1));
    if (!query.get("slope")) return false;
    ["target", "lo", "hi", "sharpness"].forEach(function (id) { if (query.get(id)) $(id).value = query.get(id); });
    gate = {};
    subject = $("target").value;
    LISTS.forEach(function (key) { gate[key] = (query.get(key) || "").split(" ").filter(Boolean); });
    $("k").value = gate.slope.length;
    controls();
    changed();
    return true;
  }

  window.addEventListener("resize", function () { if (drawn) show(); });
  $("ask").addEventListener("submit", function (event) { event.preventDefault(); fit(); });
  $("target").addEventListener("change", fit);
  $("k").addEventListener("change", fit);
  $("sharpness").addEventListener("change", fit);
  ["lo", "hi"].forEach(function (id) { $(id).addEventListener("change", function () { if (gate) { controls(); changed(); } }); });
  $("bias").addEventListener("change", function () { if (gate) prove(); });
  $("target").value = document.body.dataset.target;
  if (!recall()) fit();
})();
