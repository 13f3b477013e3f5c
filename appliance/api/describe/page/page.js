// Search: what does not hold all of the words is hidden. The page is whole
// without this.
const box = document.getElementById("search");
const found = document.getElementById("found");
const articles = [...document.querySelectorAll("article")].map((at) => ({
  at,
  entry: document.querySelector(`nav [data-for="${CSS.escape(at.id)}"]`),
  text: (at.id + " " + at.textContent).toLowerCase(),
}));
const header = document.querySelector("header");
const sections = [...document.querySelectorAll("main > section, nav > section")];

function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const a of articles) {
    const fits = words.every((w) => a.text.includes(w));
    a.at.hidden = !fits;
    if (a.entry) a.entry.hidden = !fits;
    shown += fits;
  }
  for (const s of sections) s.hidden = !s.querySelector("article:not([hidden]), li:not([hidden])");
  header.hidden = words.length > 0; // what was found begins at the top
  scrollTo({ top: 0, behavior: "instant" });
  found.textContent = words.length ? `${shown} of ${articles.length}` : "";
}

box.addEventListener("input", search);
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement !== box) {
    e.preventDefault();
    box.focus();
  }
  if (e.key === "Escape" && document.activeElement === box) {
    box.value = "";
    search();
  }
});
// A link to what the search hides shows it again.
addEventListener("hashchange", () => {
  const to = document.getElementById(location.hash.slice(1));
  if (to && to.hidden) {
    box.value = "";
    search();
    to.scrollIntoView();
  }
});
document.getElementById("origin").textContent = location.origin;

// The contents: always open where there is room beside the page, and else open
// until something in them is chosen.
const contents = document.getElementById("contents");
const narrow = matchMedia("(max-width: 52rem)");
const fold = () => { contents.open = !narrow.matches; };
document.documentElement.classList.add("scripted");
narrow.addEventListener("change", fold);
fold();
contents.addEventListener("click", (e) => {
  if (narrow.matches && e.target.closest("a")) contents.open = false;
});
