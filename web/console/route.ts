import { useEffect, useRef, useState } from "preact/hooks";

// A Route is where the console is: #/chats/ID?event=3 is the page chats with the
// rest ["ID"] and a query. It stands behind #, so that the box has one page to serve.
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
    return part; // typed by hand
  }
}

// to is the address of a page, for a link: to("chats", id).
export function to(page: string, ...rest: string[]): string {
  return "#/" + [page, ...rest].map(encodeURIComponent).join("/");
}

export function go(address: string): void {
  follow(address);
  location.hash = address;
}

// What a page asks before it is left, on which something is not saved.
let mayLeave: (() => boolean) | undefined;
export function guard(asks: (() => boolean) | undefined): void {
  mayLeave = asks;
}

// Whether the page has something that is not saved.
let written = false;
export const unsaved = () => written;
export function writes(something: boolean): void {
  written = something;
}

// Where the console goes without asking: somebody was asked, or saved.
let followed: string | undefined;
export function follow(address: string): void {
  followed = address;
}

// useRoute is where the console is, as its address changes: by links, by the
// browser's Back and Forward, and by hand.
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
