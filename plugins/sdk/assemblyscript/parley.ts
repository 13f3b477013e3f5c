// For tools in AssemblyScript that a Parley box runs. All of it is in this file.
// A tool is a function that gets the parameters of a call and returns the answer
// for the assistant:
//
//     import { tool, serve, Json } from "./parley";
//
//     tool("opening_hours", (parameters: Json): string => {
//       return parameters.get("place").text() + " is open from ten to six.";
//     });
//     serve();
//
// Errors are thrown: `throw new Error("I know no such place.")`. That needs these
// options of the compiler, which asconfig.json has:
// "exportStart": "_start" and "use": ["abort=assembly/parley/abort"].

// Buffer for what WASI functions write besides their number: 16 bytes.
const scratch = memory.data(16, 8);

/** Answers one call: the content is a text or JSON for the assistant. */
type Tool = (parameters: Json) => string;

const tools = new Map<string, Tool>();

/** Sets the function that answers a tool of the manifest. */
export function tool(name: string, answer: Tool): void {
  tools.set(name, answer);
}

/** Answers the call that the program was started for. It is the last line. */
export function serve(): void {
  const words = strings(args_sizes_get, args_get);
  if (words.length < 2) throw new Error("no tool was named as the first argument");
  if (!tools.has(words[1])) throw new Error("there is no tool " + words[1]);
  const answer = tools.get(words[1]);
  write(1, answer(Json.parse(String.UTF8.decode(read()))));
}

/** Returns a setting of the plugin, by its name in the manifest; "" if it has neither a value nor a default. */
export function setting(name: string): string {
  return variable("SETTING_" + name.toUpperCase());
}

/** Returns the time of the call in the time zone of the box, such as 2026-03-02T10:00:00+01:00. */
export function time(): string {
  return variable("PARLEY_TIME");
}

/** Returns the time of the call in seconds since 1970. */
export function now(): i64 {
  return Date.fromString(time()).getTime() / 1000;
}

/** Returns an opaque id of the caller, the same in the caller's next chat; "" if the caller is unknown. */
export function caller(): string {
  return variable("PARLEY_CALLER");
}

/** Writes a line to the plugin's log. */
export function log(line: string): void {
  write(2, line + "\n");
}

/** The response of a host, with any status. */
export class Response {
  constructor(public status: i32, public body: string) {}
}

/**
 * Makes an HTTP request to a granted host. It throws if there is no response: the
 * request was not granted, or the host did not answer. try_fetch returns the reason
 * as the body, with the status 0.
 */
export function fetch(
  url: string,
  method: string = "GET",
  body: string = "",
  headers: Map<string, string> = new Map<string, string>(),
): Response {
  const response = try_fetch(url, method, body, headers);
  if (response.status == 0) throw new Error(response.body);
  return response;
}

export function try_fetch(
  url: string,
  method: string = "GET",
  body: string = "",
  headers: Map<string, string> = new Map<string, string>(),
): Response {
  const names = headers.keys();
  const members: string[] = [];
  for (let i = 0; i < names.length; i++) members.push(quote(names[i]) + ":" + quote(headers.get(names[i])));
  const given = members.join(",");
  const request = String.UTF8.encode(`{"method":${quote(method)},"url":${quote(url)},"headers":{${given}}}`);
  const bytes = String.UTF8.encode(body);
  const status = host_http(changetype<usize>(request), request.byteLength, changetype<usize>(bytes), bytes.byteLength);
  return new Response(status < 0 ? 0 : status, lastAnswer());
}

/** Returns the value of a key, or null. load, store and remove need the permission storage. */
export function recall(key: string): string | null {
  const bytes = String.UTF8.encode(key);
  const found = accepted(host_kv_get(changetype<usize>(bytes), bytes.byteLength));
  return found > 0 ? lastAnswer() : null;
}

/** Stores a value under a key. Only this plugin can read it. */
export function keep(key: string, value: string): void {
  const k = String.UTF8.encode(key);
  const v = String.UTF8.encode(value);
  accepted(host_kv_set(changetype<usize>(k), k.byteLength, changetype<usize>(v), v.byteLength));
}

/** Deletes a key. */
export function forget(key: string): void {
  const bytes = String.UTF8.encode(key);
  accepted(host_kv_delete(changetype<usize>(bytes), bytes.byteLength));
}

/** Returns the keys that begin with a prefix, in order, at most a thousand. */
export function keys(prefix: string): string[] {
  const bytes = String.UTF8.encode(prefix);
  accepted(host_kv_keys(changetype<usize>(bytes), bytes.byteLength));
  const all = Json.parse(lastAnswer()).items();
  const texts: string[] = [];
  for (let i = 0; i < all.length; i++) texts.push(all[i].text());
  return texts;
}

/** Returns the messages so far, oldest first, with role and content. It needs the permission conversation. */
export function conversation(): Json[] {
  accepted(host_conversation());
  return Json.parse(lastAnswer()).get("messages").items();
}

/** A JSON value. A missing value, or one of another type, is null, "", 0 or empty. */
export class Json {
  private _text: string = "";
  private _number: f64 = NaN;
  private _items: Json[] = [];
  private _names: string[] = [];
  constructor(public kind: JsonKind) {}

  /** Parses JSON with up to 64 levels of nesting; throws if text is not JSON. */
  static parse(text: string): Json {
    const reader = new Reader(text);
    const value = reader.value(0);
    reader.space();
    if (reader.at < text.length) reader.wrong();
    return value;
  }

  static number(value: f64): Json {
    const json = new Json(JsonKind.Number);
    json._number = value;
    return json;
  }

  static text(value: string): Json {
    const json = new Json(JsonKind.Text);
    json._text = value;
    return json;
  }

  /** A member of an object. */
  get(name: string): Json {
    const i = this._names.indexOf(name);
    return i < 0 ? new Json(JsonKind.Null) : this._items[i];
  }

  text(): string {
    return this._text;
  }

  /** The number, or NaN. */
  number(): f64 {
    return this._number;
  }

  isTrue(): bool {
    return this.kind == JsonKind.True;
  }

  isNull(): bool {
    return this.kind == JsonKind.Null;
  }

  /** The values of an array, or of an object's members. */
  items(): Json[] {
    return this._items;
  }

  /** The names of an object's members. */
  names(): string[] {
    return this._names;
  }
}

export enum JsonKind { Null, False, True, Number, Text, Array, Object }

/** Writes a text as JSON. */
export function quote(text: string): string {
  let json = '"';
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c == 0x22 || c == 0x5c) json += "\\" + String.fromCharCode(c);
    else if (c < 0x20) json += "\\u00" + (c < 0x10 ? "0" : "1") + (c & 15).toString(16);
    else json += String.fromCharCode(c);
  }
  return json + '"';
}

class Reader {
  at: i32 = 0;
  constructor(public text: string) {}

  wrong(): void {
    throw new Error("not JSON from character " + this.at.toString() + " on");
  }

  peek(): i32 {
    return this.at < this.text.length ? this.text.charCodeAt(this.at) : -1;
  }

  next(): i32 {
    const c = this.peek();
    if (c < 0) this.wrong();
    this.at++;
    return c;
  }

  space(): void {
    while (this.peek() == 0x20 || (this.peek() >= 9 && this.peek() <= 13)) this.at++;
  }

  word(word: string, kind: JsonKind): Json {
    if (this.text.substr(this.at, word.length) != word) this.wrong();
    this.at += word.length;
    return new Json(kind);
  }

  value(depth: i32): Json {
    this.space();
    if (depth > 64) this.wrong();
    const c = this.peek();
    if (c == 0x22) return Json.text(this.string());
    if (c == 0x7b || c == 0x5b) return this.list(c == 0x7b, depth);
    if (c == 0x74) return this.word("true", JsonKind.True);
    if (c == 0x66) return this.word("false", JsonKind.False);
    if (c == 0x6e) return this.word("null", JsonKind.Null);
    return this.number();
  }

  list(object: bool, depth: i32): Json {
    const json = new Json(object ? JsonKind.Object : JsonKind.Array);
    const close = object ? 0x7d : 0x5d;
    this.at++;
    this.space();
    if (this.peek() == close) {
      this.at++;
      return json;
    }
    while (true) {
      if (object) {
        this.space();
        json.names().push(this.string());
        this.space();
        if (this.next() != 0x3a) this.wrong();
      }
      json.items().push(this.value(depth + 1));
      this.space();
      const c = this.next();
      if (c == close) return json;
      if (c != 0x2c) this.wrong();
    }
  }

  number(): Json {
    const begin = this.at;
    let c = this.peek();
    while ((c >= 0x30 && c <= 0x39) || c == 0x2b || c == 0x2d || c == 0x2e || (c | 0x20) == 0x65) {
      this.at++;
      c = this.peek();
    }
    const value = parseFloat(this.text.substring(begin, this.at));
    if (isNaN(value)) this.wrong();
    return Json.number(value);
  }

  string(): string {
    if (this.next() != 0x22) this.wrong();
    let text = "";
    while (true) {
      const begin = this.at;
      let c = this.next();
      while (c != 0x22 && c != 0x5c) c = this.next();
      text += this.text.substring(begin, this.at - 1);
      if (c == 0x22) return text;
      c = this.next();
      if (c == 0x75) {
        text += String.fromCharCode(<i32>parseInt(this.text.substr(this.at, 4), 16));
        this.at += 4;
        continue;
      }
      const escapes = '"\\/bfnrt';
      const i = escapes.indexOf(String.fromCharCode(c));
      if (i < 0) this.wrong();
      text += '"\\/\b\f\n\r\t'.charAt(i);
    }
  }
}

// An error ends the call: its message is the last line of standard error. The
// compiler calls this function for thrown errors and for traps.
export function abort(message: string | null = null, file: string | null = null, line: u32 = 0, column: u32 = 0): void {
  let text = message ? message.replaceAll("\n", " ") : "aborted";
  if (file && !message) text += " in " + file + ":" + line.toString();
  write(2, text + "\n");
  proc_exit(1);
}

// The functions of the box, as docs/plugins/abi.md describes them.
// @ts-ignore: decorator
@external("parley", "answer")
declare function host_answer(to: usize, length: i32): i32;
// @ts-ignore: decorator
@external("parley", "http")
declare function host_http(request: usize, requestLength: i32, body: usize, bodyLength: i32): i32;
// @ts-ignore: decorator
@external("parley", "kv_get")
declare function host_kv_get(key: usize, length: i32): i32;
// @ts-ignore: decorator
@external("parley", "kv_set")
declare function host_kv_set(key: usize, keyLength: i32, value: usize, valueLength: i32): i32;
// @ts-ignore: decorator
@external("parley", "kv_delete")
declare function host_kv_delete(key: usize, length: i32): i32;
// @ts-ignore: decorator
@external("parley", "kv_keys")
declare function host_kv_keys(prefix: usize, length: i32): i32;
// @ts-ignore: decorator
@external("parley", "conversation")
declare function host_conversation(): i32;

// The answer that the last host function left besides its number.
function lastAnswer(): string {
  const bytes = new ArrayBuffer(host_answer(0, 0));
  host_answer(changetype<usize>(bytes), bytes.byteLength);
  return String.UTF8.decode(bytes);
}

function accepted(number: i32): i32 {
  if (number < 0) throw new Error(lastAnswer());
  return number;
}

// The functions of WASI that are used here.
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "args_sizes_get")
declare function args_sizes_get(count: usize, size: usize): i32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "args_get")
declare function args_get(list: usize, bytes: usize): i32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "environ_sizes_get")
declare function environ_sizes_get(count: usize, size: usize): i32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "environ_get")
declare function environ_get(list: usize, bytes: usize): i32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "fd_read")
declare function fd_read(fd: i32, parts: usize, count: i32, read: usize): i32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "fd_write")
declare function fd_write(fd: i32, parts: usize, count: i32, written: usize): i32;
// @ts-ignore: decorator
@external("wasi_snapshot_preview1", "proc_exit")
declare function proc_exit(code: i32): void;

// The texts that a pair of WASI functions returns: arguments, or variables.
function strings(sizes: (count: usize, size: usize) => i32, get: (list: usize, bytes: usize) => i32): string[] {
  const texts: string[] = [];
  if (sizes(scratch, scratch + 4) != 0) return texts;
  const count = load<i32>(scratch);
  const list = new ArrayBuffer(count * 4);
  const bytes = new ArrayBuffer(load<i32>(scratch + 4));
  if (get(changetype<usize>(list), changetype<usize>(bytes)) != 0) return texts;
  for (let i = 0; i < count; i++) {
    const begin = <usize>load<u32>(changetype<usize>(list) + i * 4);
    let end = begin; // each ends with a zero
    while (load<u8>(end) != 0) end++;
    texts.push(String.UTF8.decodeUnsafe(begin, end - begin));
  }
  return texts;
}

function variable(name: string): string {
  const all = strings(environ_sizes_get, environ_get);
  for (let i = 0; i < all.length; i++) if (all[i].startsWith(name + "=")) return all[i].substring(name.length + 1);
  return "";
}

// All of standard input.
function read(): ArrayBuffer {
  let all = new Uint8Array(4096);
  let length = 0;
  while (true) {
    if (length == all.length) {
      const more = new Uint8Array(length * 2);
      more.set(all);
      all = more;
    }
    store<u32>(scratch, <u32>(all.dataStart + length));
    store<i32>(scratch + 4, all.length - length);
    if (fd_read(0, scratch, 1, scratch + 8) != 0) throw new Error("the parameters cannot be read");
    const n = load<i32>(scratch + 8);
    if (n == 0) return all.buffer.slice(0, length);
    length += n;
  }
}

function write(fd: i32, text: string): void {
  const bytes = String.UTF8.encode(text);
  for (let at = 0; at < bytes.byteLength; at += load<i32>(scratch + 8)) {
    store<u32>(scratch, <u32>(changetype<usize>(bytes) + at));
    store<i32>(scratch + 4, bytes.byteLength - at);
    if (fd_write(fd, scratch, 1, scratch + 8) != 0) return;
  }
}
