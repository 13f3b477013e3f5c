// Stores the pairing in the browser.
const storageKey = "parley.kiosk";
export interface Pairing {
  key: string;
  name: string;
}

// remembered returns the stored pairing, or nothing when it is incomplete.
export function remembered(): Pairing | null {
  try {
    const p = JSON.parse(localStorage.getItem(storageKey) ?? "null") as Partial<Pairing> | null;
    return p?.key ? { key: p.key, name: p.name ?? "" } : null;
  } catch {
    return null;
  }
}

// remember stores the pairing or deletes it. A browser that cannot store it asks for a code again when the page is
// opened next.
export function remember(p: Pairing | null): void {
  try {
    if (p) localStorage.setItem(storageKey, JSON.stringify(p));
    else localStorage.removeItem(storageKey);
  } catch {
    /* storage fails in private windows and when cookies are blocked */
  }
}

// onChanged calls changed when another tab has paired or unpaired the screen.
export function onChanged(changed: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === storageKey || e.key === null) changed();
  });
}
