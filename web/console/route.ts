import { useEffect, useRef, useState } from "preact/hooks";

// A Route is the console's address: #/chats/ID?event=3 is the page chats with the rest ["ID"] and a query. It comes
// after #, so that the box serves one page only.
export interface Route {
  page: string;
  rest: string[];
  query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/").filter(Boolean).map(decoded);
  return { page, rest, query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // an invalid escape, typed by hand
  }
}

// to returns the address of a page, for a link: to("chats", id).
export function to(page: string, ...rest: string[]): string {
  return "#/" + [page, ...rest].map(encodeURIComponent).join("/");
}

export function go(address: string): void {
  follow(address);
  location.hash = address;
}

// Asks whether to leave the current page, which has unsaved changes.
let mayLeave: (() => boolean) | undefined;
export function guard(asks: (() => boolean) | undefined): void {
  mayLeave = asks;
}

// Tells whether the current page has unsaved changes.
let written = false;
export const unsaved = () => written;
export function writes(something: boolean): void {
  written = something;
}

// The address to which the console may go without asking, because the user was asked before or has saved.
let followed: string | undefined;
export function follow(address: string): void {
  followed = address;
}

// useRoute follows the console's address as it changes: by links, by the browser's Back and Forward, and by hand.
export function useRoute(): Route {
  const shown = useRef(location.hash);
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const changed = () => {
      const next = location.hash;
      if (next === shown.current || next.startsWith("#signin=")) return;
      if (mayLeave && next !== followed && !mayLeave()) return history.pushState(null, "", shown.current || "#/");
      followed = undefined;
      shown.current = next;
      setRoute(routeOf(next));
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
