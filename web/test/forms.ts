// Property tests of the console's forms. TestTheFormsReadWhatTheyWrite in web/bundle runs them. A property that fails
// throws, with the smallest input that fast-check found.
import fc from "fast-check";
import type { ReturnChatEvent, ReturnConfig } from "../rest";
import { Refused } from "../console/api";
import { type Series, asCSV, drawingOf, summaryOf, top, unitAt } from "../console/expression/scores";
import { folded, linesOf } from "../console/pages/difference";
import { type Draft, at, draftOf, put, sorted } from "../console/pages/draft";
import { faultsOf, pathOf, unplaced } from "../console/pages/faults";
import { type Form, advice, read, tidy, written } from "../console/pages/prompt_text";
import { argumentsOf, pretty, wrongIn } from "../console/pages/tool_schema";
import { asText, clock, current, feelings, transcript } from "../console/pages/transcript";
import { bytes, milliseconds, span } from "../console/parts/format";
import { routeOf, to } from "../console/route";
import { answerLaws } from "./answers";
import { holds, same, text } from "./law";

const line = text.map((t) => t.replaceAll("\n", " "));
const form: fc.Arbitrary<Form> = fc.record({
  who: text,
  facts: fc.array(line, { maxLength: 4 }),
  rules: fc.array(line, { maxLength: 4 }),
  last: text,
  examples: fc.array(fc.record({ question: text, answer: text }), { maxLength: 3 }),
});

// A series of scores over time, as the predictions of a long video are.
const series: fc.Arbitrary<Series> = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 1000 }), text, fc.integer({ min: 0, max: 100 })), { minLength: 1 })
  .map((all) => ({
    label: "Voice",
    model: "prosody",
    names: ["Anger", "Joy"],
    units: all
      .sort((a, b) => a[0] - b[0])
      .map(([begin, text, score]) => ({
        text,
        time: { begin, end: begin },
        scores: Float32Array.of(score / 100, 1 - score / 100),
      })),
  }));

// fieldsOf parses comma-separated values as spreadsheets do.
const fieldsOf = (csv: string) =>
  Array.from(csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g), (m) => m[1]?.replaceAll('""', '"') ?? m[2]!);

const laws: Record<string, () => void> = {
  ...answerLaws,
  "the text of a form opens as the same form": () =>
    fc.assert(
      fc.property(form, (f) => {
        const tidied = tidy(f),
          saved = written(tidied),
          opened = read(saved);
        // Such a heading inside "who" makes a different form, or a plain text.
        fc.pre(!tidied.who.split("\n\n").some((b) => /^(Facts|Rules|Examples|In this conversation):(\n|$)/.test(b)));
        holds(opened !== undefined, () => `${JSON.stringify(saved)} does not open as a form`);
        same(written(opened!), saved);
        same(written(tidy(opened!)), saved);
      }),
    ),
  "a form of plain sentences survives writing and reading": () => {
    const sentence = fc
      .array(fc.constantFrom("open", "on", "Monday", "{{name}}", "14", "ключ", "المتحف"), {
        minLength: 1,
        maxLength: 6,
      })
      .map((all) => all.join(" "));
    const plain = fc.record({
      who: fc.oneof(fc.constant(""), sentence),
      facts: fc.array(sentence),
      rules: fc.array(sentence),
      last: fc.oneof(fc.constant(""), sentence),
      examples: fc.array(fc.record({ question: sentence, answer: sentence })),
    });
    fc.assert(fc.property(plain, (f) => same(sorted(read(written(f))), sorted(f))));
  },
  "a text that opens as a form loses nothing": () =>
    fc.assert(
      fc.property(text, (t) => {
        const opened = read(t);
        if (opened) same(written(opened), t);
      }),
    ),
  "tidying a form twice equals tidying it once": () =>
    fc.assert(fc.property(form, (f) => same(tidy(tidy(f)), tidy(f)))),
  "any fact can be checked for advice": () => fc.assert(fc.property(text, (t) => void advice(t))),

  "put sets one value of a draft and changes nothing else": () => {
    const name = fc.constantFrom("a", "b", "c"),
      index = fc.integer({ min: 0, max: 2 });
    const path = fc
      .array(fc.tuple(name, fc.option(index)), { minLength: 1, maxLength: 3 })
      .map((all) => all.map(([n, i]) => (i === null ? n : `${n}[${i}]`)).join("."));
    const draft: fc.Arbitrary<Draft> = fc.dictionary(name, fc.oneof(fc.string(), fc.dictionary(name, fc.integer())));
    fc.assert(
      fc.property(draft, path, fc.oneof(fc.string(), fc.integer(), fc.boolean()), (d, p, v) => {
        const before = JSON.stringify(d);
        const other = p.startsWith("a") ? "b" : "a";
        if (typeof d[p[0]!] === "string" && p.length > 1) return; // a text has no fields
        let after: Draft;
        try {
          after = put(d, p, v);
        } catch {
          return; // the path leads through a number
        }
        same(at(after, p), v);
        same(at(after, other), at(d, other));
        same(JSON.stringify(d), before);
      }),
    );
  },
  "a list entry keeps its position when its fields are emptied": () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.nat(4), (n, i) => {
        fc.pre(i < n);
        let d: Draft = { webhooks: Array.from({ length: n }, (_, k) => ({ url: `u${k}` })) };
        d = put(d, `webhooks[${i}].url`, undefined);
        const all = d.webhooks as unknown[];
        same(all.length, n);
        holds(
          Object.keys(all).length === n && all.every((w) => w !== null && w !== undefined),
          () => `${JSON.stringify(d)} has a hole`,
        );
        same(put(d, `webhooks[${i}].url`, `u${i}`), {
          webhooks: Array.from({ length: n }, (_, k) => ({ url: `u${k}` })),
        });
      }),
    ),
  "an emptied field is removed together with its empty parents": () =>
    same(put(put({ x: 1 }, "timeouts.inactivity.enabled", true), "timeouts.inactivity.enabled", undefined), { x: 1 }),
  "the order of a config's fields does not change its draft": () => {
    const turned = (v: unknown): unknown =>
      typeof v !== "object" || v === null || Array.isArray(v)
        ? v
        : Object.fromEntries(
            Object.entries(v)
              .reverse()
              .map(([k, x]) => [k, turned(x)]),
          );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (extra) => {
        const c = {
          evi_version: "4-mini",
          tools: [
            { id: "t", version: 3, version_type: "FIXED" },
            { id: "u", version: 1, version_type: "LATEST" },
          ],
          builtin_tools: [],
          event_messages: extra,
        } as unknown as ReturnConfig;
        const d = draftOf(c);
        same(sorted(d), sorted(draftOf(turned(c) as ReturnConfig)));
        same(d.tools, [{ id: "t", version: 3 }, { id: "u" }]); // a reference to the newest version stays one
        same(JSON.parse(sorted(d)), JSON.parse(sorted(JSON.parse(sorted(d)))));
      }),
    );
  },

  "the draft of a config has its approved answers and the destinations of its calls": () => {
    const answers = { mode: "only", unknown: "Ask at the desk.", items: [{ id: "a", ask: ["b", "c"], say: "d" }] };
    const destinations = [{ name: "desk", to: "sip:desk@example.org", attended: false }];
    const c = { tools: [], builtin_tools: [{ name: "transfer", tool_type: "BUILTIN", destinations }], answers };
    const d = draftOf(c as unknown as ReturnConfig);
    same(d.answers, answers);
    same(d.builtin_tools, [{ name: "transfer", destinations }]);
  },

  "a transcript has every line, in order of time": () => {
    const metadata = fc.oneof(
      fc.constantFrom(
        undefined,
        "null",
        "[]",
        "1",
        '"x"',
        "{",
        '{"time":null}',
        '{"time":{"begin":5,"end":9}}',
        '{"begin":7}',
        '{"tool_call_id":"c","name":"lamp"}',
        '{"tool_call_id":"c","error":"no"}',
        '{"from_text":true}',
      ),
      fc.json(),
    );
    const event = fc.record({
      id: fc.uuid(),
      timestamp: fc.integer({ min: 0, max: 1e6 }),
      message_text: fc.option(text, { nil: undefined }),
      metadata,
      emotion_features: fc.option(fc.oneof(fc.constantFrom("{", "null", '{"Joy":0.5}'), fc.json()), { nil: undefined }),
      type: fc.constantFrom(
        "USER_MESSAGE",
        "AGENT_MESSAGE",
        "ASSISTANT_PROSODY",
        "FUNCTION_CALL",
        "FUNCTION_CALL_RESPONSE",
        "USER_INTERRUPTION",
        "SYSTEM_PROMPT",
        "CHAT_START_MESSAGE",
      ),
      related_event_id: fc.option(fc.uuid(), { nil: undefined }),
    }) as unknown as fc.Arbitrary<ReturnChatEvent>;
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const lines = transcript(events, 500);
        holds(
          lines.every((l, i) => i === 0 || lines[i - 1]!.at <= l.at),
          () => `not in time: ${lines.map((l) => l.at)}`,
        );
        const expected = events
          .filter((e) => ["USER_MESSAGE", "AGENT_MESSAGE", "FUNCTION_CALL", "USER_INTERRUPTION"].includes(e.type))
          .map((e) => e.id)
          .sort();
        same(lines.map((l) => l.id).sort(), expected);
        holds(
          lines.every((l) => Number.isFinite(l.at) && l.at >= 0),
          () => "a line without a time",
        );
        const said = asText(lines);
        holds(
          lines.every((l) => said.includes(l.text)),
          () => `the text lacks a line: ${said}`,
        );
        for (const ms of [0, 5, 1e6])
          holds((current(lines, ms)?.at ?? 0) <= ms, () => "a line is current before it is heard");
      }),
    );
  },
  "feelings are the strongest three, in order": () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true })), (scores) => {
        const all = feelings(JSON.stringify(scores));
        holds(
          all.length <= 3 && all.every((f, i) => f.score >= 0.05 && (i === 0 || all[i - 1]!.score >= f.score)),
          () => JSON.stringify(all),
        );
      }),
    ),
  "a formatted clock parses back to its time": () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e8 }), (ms) =>
        same(
          clock(ms)
            .split(":")
            .reduce((s, part) => 60 * s + Number(part), 0),
          Math.floor(ms / 1000),
        ),
      ),
    ),

  "a difference contains both texts": () => {
    const lines = fc
      .array(fc.constantFrom("a", "b", "", "c c"), { minLength: 1, maxLength: 8 })
      .map((all) => all.join("\n"));
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const all = linesOf(before, after),
          of = (mark: string) =>
            all
              .filter((l) => l.mark !== mark)
              .map((l) => l.text)
              .join("\n");
        const ended = (t: string) => t.replace(/\n$/, "");
        if (before !== "") same(of("+"), ended(before));
        if (after !== "") same(of("-"), ended(after));
        same(
          folded(all).reduce<number>((n, l) => n + (typeof l === "number" ? l : 1), 0),
          all.length,
        );
      }),
    );
  },
  "an error appears at its field or below the form": () => {
    const step = fc.oneof(fc.constantFrom("tools", "url", "events"), fc.nat(9));
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            loc: fc.tuple(fc.constant("body"), fc.constantFrom("name", "webhooks"), step),
            msg: fc.string({ minLength: 1 }),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        (detail) => {
          const err = new Refused(422, "no", { detail } as never),
            faults = faultsOf(err);
          for (const d of detail)
            holds(pathOf(d.loc) in faults, () => `${pathOf(d.loc)} is not in ${JSON.stringify(faults)}`);
          const below = unplaced(err, (p) => p.startsWith("name"))!.message;
          for (const p of Object.keys(faults))
            if (!p.startsWith("name")) holds(below.includes(p), () => `${p} is not shown: ${below}`);
        },
      ),
    );
  },
  "an address routes to the page it was made for": () =>
    fc.assert(
      fc.property(
        fc.constantFrom("chats", "configs"),
        fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 3 }),
        (page, rest) => {
          const r = routeOf(to(page, ...rest));
          same([r.page, ...r.rest], [page, ...rest]);
        },
      ),
    ),
  "any address can be routed": () => fc.assert(fc.property(fc.string(), (hash) => void routeOf(hash))),
  "any text is a schema or is reported as invalid": () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.constantFrom(
            '{"properties":{"a":null}}',
            '{"properties":[1]}',
            '{"properties":{"a":{"enum":[{}]}},"required":1}',
          ),
        ),
        (t) => {
          argumentsOf(t);
          pretty(t);
          if (wrongIn(t) === undefined) same(JSON.parse(pretty(t)), JSON.parse(t));
        },
      ),
    ),
  "a chart of many predictions has few points, whose mean is that of the predictions": () =>
    fc.assert(
      fc.property(series, fc.integer({ min: 1, max: 20 }), (s, most) => {
        const d = drawingOf(s, [0, 1], most);
        holds(d.places.length <= most && d.units.length === d.places.length, () => `${d.places.length} points`);
        same(
          d.places,
          [...d.places].sort((a, b) => a - b),
        );
        const each = Math.ceil(s.units.length / most);
        const weighed = d.lines[1]!.reduce((sum, v, i) => sum + v * Math.min(each, s.units.length - i * each), 0);
        holds(Math.abs(weighed / s.units.length - summaryOf(s).mean[1]!) < 1e-4, () => `${weighed}`);
      }),
    ),
  "the prediction at a time is the last that has begun": () =>
    fc.assert(
      fc.property(series, fc.integer({ min: -1, max: 1001 }), (s, seconds) => {
        const i = unitAt(s.units, seconds);
        same(i ?? -1, s.units.filter((u) => u.time!.begin <= seconds).length - 1);
      }),
    ),
  "a table that is saved has every text and score": () =>
    fc.assert(
      fc.property(series, (s) => {
        const fields = fieldsOf(asCSV(s)),
          columns = 10 + s.names.length;
        same(fields.length, columns * (s.units.length + 1));
        s.units.forEach((u, i) => same(fields[columns * (i + 1) + 9], u.text));
        s.units.forEach((u, i) => same(fields[columns * (i + 1) + 10], u.scores[0]!.toFixed(4)));
        same(top(s.units[0]!.scores, 1).length, 1);
      }),
    ),
  "figures are short": () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (n) => {
        for (const figure of [bytes(n), milliseconds(n % 1e9), span(n)])
          holds(figure.length > 0 && figure.length < 24 && !figure.includes("NaN"), () => figure);
      }),
    ),
};

for (const [name, law] of Object.entries(laws)) {
  try {
    law();
  } catch (err) {
    throw new Error(`${name}: ${(err as Error).message}`, { cause: err });
  }
}
console.log(`${Object.keys(laws).length} laws hold`);
