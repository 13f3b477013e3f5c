// Calls the public API of the box with the cookie of the console's session.
import type { Problem } from "../rest";

// Refused is an error answer from the box, with the box's message. Status 0 means that the box did not answer.
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problem?: Problem,
  ) {
    super(message);
  }
}

// onSignedOut is called when the box reports that the session has ended.
let signedOut = () => {};
export function onSignedOut(does: () => void): void {
  signedOut = does;
}

export type Query = Record<string, string | number | boolean | string[] | undefined>;

// withQuery adds a query to a path, without undefined and empty values.
export function withQuery(path: string, query: Query = {}): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) q.append(name, String(one));
  }
  const text = q.toString();
  return text ? `${path}?${text}` : path;
}

// answer sends a request and returns the response. It throws Refused for any status but 2xx.
export async function answer(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  let res: Response;
  try {
    res = await fetch(path, { ...init, method, credentials: "same-origin", redirect: "error" });
  } catch (err) {
    if (err instanceof DOMException && err.name === "AbortError") throw err;
    throw new Refused(0, "The box does not answer. Is it running, and is this machine on its network?");
  }
  if (res.ok) return res;
  const problem = (await res.json().catch(() => undefined)) as Problem | undefined;
  if (res.status === 401 && path !== "/v0/box/sessions") signedOut();
  throw new Refused(res.status, problem?.message ?? `The box answered ${res.status} ${res.statusText}.`, problem);
}

async function asJSON<T>(res: Response): Promise<T> {
  return (res.headers.get("content-type")?.startsWith("application/json") ? res.json() : res.text()) as Promise<T>;
}

async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { signal };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  return asJSON<T>(await answer(method, path, init));
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) =>
  send<T>("GET", withQuery(path, query), undefined, signal);
export const post = <T>(path: string, body?: unknown, signal?: AbortSignal) => send<T>("POST", path, body, signal);
export const put = <T>(path: string, body: unknown) => send<T>("PUT", path, body);
export const patch = <T>(path: string, body: unknown) => send<T>("PATCH", path, body);
export const remove = <T>(path: string) => send<T>("DELETE", path);

// upload sends a file as the request body.
export async function upload<T>(
  method: "POST" | "PUT",
  path: string,
  file: Blob,
  type = "application/octet-stream",
): Promise<T> {
  return asJSON<T>(await answer(method, path, { body: file, headers: { "content-type": type } }));
}

// sendForm posts a form with files, and reports the share of it that is sent. It uses XMLHttpRequest, because fetch
// does not tell how far an upload is.
export function sendForm<T>(
  path: string,
  form: FormData,
  progress: (share: number) => void,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((done, failed) => {
    const r = new XMLHttpRequest();
    r.responseType = "json";
    r.upload.onprogress = (e) => progress(e.total > 0 ? e.loaded / e.total : 0);
    r.onload = () => {
      if (r.status >= 200 && r.status < 300) return done(r.response as T);
      const problem = r.response as Problem | null;
      if (r.status === 401) signedOut();
      failed(new Refused(r.status, problem?.message ?? `The box answered ${r.status}.`, problem ?? undefined));
    };
    r.onerror = r.onabort = () =>
      failed(new Refused(0, "The upload broke off. Is the box running, and are the files still there?"));
    signal.addEventListener("abort", () => r.abort());
    r.open("POST", path);
    r.send(form);
  });
}

// blob fetches a file, such as a recording, and returns a URL that works until the page is closed.
export async function blob(path: string, signal?: AbortSignal): Promise<Blob> {
  return (await answer("GET", path, { signal })).blob();
}

// Paged is one page of any list of the box. Each list has its own name for the rows, such as configs_page.
export interface Paged {
  page_number: number;
  page_size: number;
  total_pages: number;
}

// everything fetches all pages of a list in order, at most `most` rows.
export async function everything<T>(path: string, rows: string, query: Query = {}, most = 1000): Promise<T[]> {
  const all: T[] = [];
  for (let number = 0; all.length < most; number++) {
    const page = await get<Paged & Record<string, unknown>>(path, { ...query, page_number: number, page_size: 100 });
    all.push(...(page[rows] as T[]));
    if (number + 1 >= page.total_pages) break;
  }
  return all.slice(0, most);
}
