// Light or dark, as chosen here before; run before the first paint, so that nothing flashes.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // storage is switched off: the system's choice holds
}
