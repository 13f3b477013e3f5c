// A plugin with Extism's own library for AssemblyScript. The word in its input selects
// the calls that it makes.
import { Config, Host, LogLevel, Memory, Var } from "@extism/as-pdk";
import { error_set, http_request } from "@extism/as-pdk/lib/env";

export function myAbort(message: string | null, file: string | null, line: u32, column: u32): void {}

function orNone(word: string | null): string {
  return word === null ? "none" : word;
}

export function run(): i32 {
  const asked = Host.inputString();
  const word = asked.slice(7, asked.length - 2); // {"do":"…"}
  if (word == "config") Host.outputString(orNone(Config.get("city")));
  else if (word == "noconfig") Host.outputString(orNone(Config.get("nothing")));
  else if (word == "var") {
    Var.set("greeting", Uint8Array.wrap(String.UTF8.encode("hello, variables")));
    const v = Var.getString("greeting");
    Var.remove("greeting");
    Host.outputString(orNone(v) + " " + orNone(Var.getString("greeting")));
  } else if (word == "log") {
    Host.log(LogLevel.Info, "a line of the log");
    Host.log(LogLevel.Error, "another");
    Host.outputString("logged");
  } else if (word == "error") {
    error_set(Memory.allocateString("no such place").offset);
    return 1;
  } else if (word == "error0") error_set(Memory.allocateString("an error, and zero").offset);
  else if (word == "code") return 7;
  else if (word == "empty") {
    Host.outputString("first");
    Host.outputString("");
  } else if (word == "twice") {
    Host.outputString("first");
    Host.outputString("the second");
  } else if (word == "http") {
    const r = http_request(
      Memory.allocateString('{"method":"POST","url":"http://example.test/now","headers":{"X-Asked":"yes"}}').offset,
      Memory.allocateString("a body").offset,
    );
    Host.outputString(r == 0 ? "none" : new Memory(r, 8).toString());
  } else if (word == "nothing") return 0;
  else Host.outputString('"' + word + '"');
  return 0;
}
