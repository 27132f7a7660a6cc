// Starts what the page has: maps, tables that can be sorted, and buttons that save the files within it.
function save(button) {
  const { text } = JSON.parse(document.getElementById(button.dataset.save).textContent);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  link.download = button.dataset.name;
  link.click();
  URL.revokeObjectURL(link.href);
}

document.querySelectorAll("section.map").forEach((section) => Maps.start(section));
document.querySelectorAll("table[data-sortable]").forEach((table) => Tables.start(table));
document.querySelectorAll("button[data-save]").forEach((button) => {
  button.addEventListener("click", () => save(button));
});
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((part) => part.setAttribute("open", ""));
});
