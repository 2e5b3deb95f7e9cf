"use strict";
// Reads the learning curves at a round: a slider for keyboard and touch, the pointer over a picture does the same.
(() => {
  const learning = JSON.parse(document.getElementById("data").textContent).learning;
  const slider = document.getElementById("round");
  const reading = document.getElementById("reading");
  const pictures = ["error", "risk"].map((name) => document.querySelector(`svg[data-chart="${name}"]`));
  const share = (v) => `${(100 * v).toPrecision(3)} %`;
  const raised = (e) => [...String(Number(e))].map((c) => "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"["0123456789-".indexOf(c)]).join("");
  const plain = (v) => v.toPrecision(3).replace(/e([+-]\d+)/, (_, e) => `\u00b710${raised(e)}`);
  const said = [
    [`training ${learning.measure}`, learning.training_error, share],
    [learning.measure, learning.error, share],
    ["training risk", learning.training_risk, plain],
    ["risk", learning.risk, plain],
    ["edge", learning.edge, plain],
  ];

  const markers = pictures.map((svg) => {
    const [, top, , height] = svg.dataset.frame.split(" ").map(Number);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    line.setAttribute("class", "marker");
    line.setAttribute("y1", top);
    line.setAttribute("y2", top + height);
    svg.append(line);
    return line;
  });

  function show() {
    const i = Number(slider.value);
    const round = learning.rounds[i];
    const known = said.filter(([, values]) => values.length && values[i] !== null);
    const words = known.map(([name, values, format]) => `${name} ${format(values[i])}`).join(", ");
    reading.textContent = `${round}: ${words}`;
    slider.setAttribute("aria-valuetext", `round ${round}`);
    pictures.forEach((svg, k) => {
      const [left, , width] = svg.dataset.frame.split(" ").map(Number);
      const [low, high] = svg.dataset.x.split(" ").map(Number);
      const x = left + (width * (round - low)) / (high - low);
      markers[k].setAttribute("x1", x);
      markers[k].setAttribute("x2", x);
    });
  }

  function move() {
    markers.forEach((line) => line.classList.add("on"));
    show();
  }

  function follow(event) {
    const svg = event.currentTarget;
    const box = svg.getBoundingClientRect();
    const [left, , width] = svg.dataset.frame.split(" ").map(Number);
    const [low, high] = svg.dataset.x.split(" ").map(Number);
    const at = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    const round = low + ((high - low) * (at - left)) / width;
    let best = 0;
    learning.rounds.forEach((r, i) => {
      if (Math.abs(r - round) < Math.abs(learning.rounds[best] - round)) best = i;
    });
    slider.value = best;
    move();
  }

  if (learning.rounds.length > 1) {
    document.getElementById("reader").hidden = false;
    slider.addEventListener("input", move);
    pictures.forEach((svg) => svg.addEventListener("pointermove", follow));
    show();
  }

  // A box that does not scroll is no place for the keyboard to stop at.
  const boxes = document.querySelectorAll(".scroll");
  const stops = () => boxes.forEach((box) => { box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; });
  addEventListener("resize", stops);
  document.querySelectorAll("details").forEach((d) => d.addEventListener("toggle", stops));
  stops();
})();
