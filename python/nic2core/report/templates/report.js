"use strict";
(() => {
  const root = document.documentElement;
  const themeButton = document.getElementById("theme");
  const setTheme = (dark) => {
    root.classList.toggle("dark", dark);
    themeButton.textContent = dark ? "Light" : "Dark";
    themeButton.setAttribute("aria-pressed", String(dark));
  };
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  themeButton.addEventListener("click", () => setTheme(!root.classList.contains("dark")));

  const figures = JSON.parse(document.getElementById("figures").textContent);
  const config = { responsive: true, displaylogo: false, displayModeBar: false };
  // Pixels of a letter, of what is beside a name in the legend, and of a line of it.
  const LETTER = 7.2, BESIDE = 130, LINE = 20;
  const wrapped = (text, most) => text.split("<br>").flatMap((line) => {
    const lines = [""];
    for (const part of line.split(/(?<=[ .,=])/)) {
      const last = lines.length - 1;
      if (lines[last] && (lines[last] + part).trimEnd().length > most) lines.push(part);
      else lines[last] += part;
    }
    return lines;
  });
  // Plotly cuts names, and titles of axes, that are longer than the chart is wide.
  const fitted = ({ data, layout }, width) => {
    const most = Math.floor((width - BESIDE) / LETTER);
    const names = new Map(data.filter((t) => t.name).map((t) => [t.name, wrapped(t.name, most)]));
    const more = [...names.values()].reduce((sum, lines) => sum + lines.length - 1, 0);
    const { title } = layout.xaxis ?? {};
    const lines = title?.text && wrapped(title.text, most).join("<br>");
    return {
      data: data.map((t) => (t.name ? { ...t, name: names.get(t.name).join("<br>") } : t)),
      layout: {
        ...layout,
        height: layout.height + LINE * more,
        xaxis: lines ? { ...layout.xaxis, title: { ...title, text: lines } } : layout.xaxis,
      },
    };
  };
  const draw = (key, view) => {
    const chart = document.getElementById(`chart-${key}`);
    const { data, layout } = fitted(figures[key][view], chart.clientWidth);
    Plotly.react(chart, data, layout, config);
  };
  for (const key of Object.keys(figures)) draw(key, 0);
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => {
      for (const other of button.parentElement.children) {
        other.setAttribute("aria-pressed", String(other === button));
      }
      draw(button.dataset.panel, Number(button.dataset.view));
    });
  }

  // What is cut fades at the edge, so that one sees that there is more to scroll to.
  const fade = (box) => {
    const hidden = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("more", hidden > 1);
  };
  const sized = new ResizeObserver((changed) => changed.forEach(({ target }) => fade(target)));
  for (const box of document.querySelectorAll(".scroll")) {
    box.addEventListener("scroll", () => fade(box), { passive: true });
    sized.observe(box);
  }

  const tip = document.getElementById("tip");
  const show = (target, x, y) => {
    tip.textContent = target.dataset.tip;
    tip.classList.add("on");
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
    tip.style.top = `${Math.max(8, Math.min(y + 14, innerHeight - box.height - 8))}px`;
  };
  const hide = () => tip.classList.remove("on");
  for (const target of document.querySelectorAll("[data-tip]")) {
    target.addEventListener("mousemove", (event) => show(target, event.clientX, event.clientY));
    target.addEventListener("mouseleave", hide);
    target.addEventListener("focus", () => {
      const box = target.getBoundingClientRect();
      show(target, box.left, box.bottom - 8);
    });
    target.addEventListener("blur", hide);
  }
})();
