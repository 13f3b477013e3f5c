// savedMS is how long the browser gets to read a saved blob: some browsers start a moment after the click.
const savedMS = 10_000;

// save downloads a text as a file.
export function save(name: string, type: string, text: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), savedMS);
}
