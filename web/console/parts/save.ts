// savedMS is how long a browser may take to read what it is given to save: some begin
// a moment after the click.
const savedMS = 10_000;

// save has the browser save a text as a file of that name.
export function save(name: string, type: string, text: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([text], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), savedMS);
}
