// A line chart as SVG: series over one x, gaps where a value is missing.
(function () {
  "use strict";
  var NS = "http://www.w3.org/2000/svg", WIDEST = 560, H = 240, LEFT = 52, RIGHT = 10, TOP = 10, BOTTOM = 26;

  function make(kind, attributes, text) {
    var node = document.createElementNS(NS, kind);
    Object.keys(attributes).forEach(function (key) { node.setAttribute(key, attributes[key]); });
    if (text !== undefined) node.textContent = text;
    return node;
  }

  // Steps of 1, 2 or 5 times a power of ten.
  function ticks(lo, hi, count) {
    var rough = (hi - lo) / count, power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].map(function (f) { return f * power; }).find(function (s) { return s >= rough; });
    var found = [];
    for (var i = Math.ceil(lo / step); i * step <= hi + step * 1e-9; i++) found.push(i * step);
    return found;
  }

  function range(series, most) {
    var lo = Infinity, hi = -Infinity;
    series.forEach(function (one) {
      if (one.apart) return;
      one.y.forEach(function (v) { if (v !== null) { lo = Math.min(lo, v); hi = Math.max(hi, v); } });
    });
    if (!(lo <= hi)) return [-1, 1];
    var room = (hi - lo || Math.abs(hi) || 1) * 0.06;
    lo = Math.max(lo - room, -most); hi = Math.min(hi + room, most);
    return lo < hi ? [lo, hi] : [-most, most];
  }

  // series: [{y, name, apart}], apart: does not widen the range; levels: [{y, name}]; marks: [{x, y}].
  window.chart = function (place, said, x, series, levels, marks) {
    // As wide as its place, so that words keep their size on a narrow screen.
    var W = Math.max(220, Math.min(WIDEST, place.clientWidth || WIDEST));
    var all = series.concat((levels || []).map(function (l) { return { y: [l.y] }; }));
    var r = range(all, 1e12), lo = r[0], hi = r[1], first = x[0], last = x[x.length - 1];
    function across(v) { return LEFT + (v - first) / (last - first) * (W - LEFT - RIGHT); }
    function down(v) { return TOP + (hi - v) / (hi - lo) * (H - TOP - BOTTOM); }
    var svg = make("svg", { viewBox: "0 0 " + W + " " + H, role: "img", "aria-label": said });
    ticks(first, last, W / 70).forEach(function (t) {
      svg.append(make("line", { "class": "grid", x1: across(t), x2: across(t), y1: TOP, y2: H - BOTTOM }));
      svg.append(make("text", { "class": "tick x", x: across(t), y: H - 8 }, String(+t.toPrecision(6))));
    });
    ticks(lo, hi, 5).forEach(function (t) {
      svg.append(make("line", { "class": t === 0 ? "grid zero" : "grid", x1: LEFT, x2: W - RIGHT, y1: down(t), y2: down(t) }));
      svg.append(make("text", { "class": "tick y", x: LEFT - 6, y: down(t) + 3.5 }, String(+t.toPrecision(3))));
    });
    (levels || []).forEach(function (l) {
      svg.append(make("line", { "class": l.name, x1: LEFT, x2: W - RIGHT, y1: down(l.y), y2: down(l.y) }));
    });
    series.forEach(function (one) {
      var path = "", pen = false;
      one.y.forEach(function (v, i) {
        // Far outside of the picture a line is cut, so that coordinates stay small.
        var inside = v !== null && v > lo - (hi - lo) && v < hi + (hi - lo);
        if (inside) path += (pen ? "L" : "M") + across(x[i]).toFixed(1) + " " + down(v).toFixed(1);
        pen = inside;
      });
      svg.append(make("path", { "class": one.name, d: path }));
    });
    (marks || []).forEach(function (m) {
      svg.append(make("circle", { "class": "mark", cx: across(m.x), cy: down(m.y), r: 3.5 }));
    });
    place.replaceChildren(svg);
  };
})();
