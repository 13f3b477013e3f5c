// Responses are cached in the plugin's key-value space, with their time.
import { try_fetch, recall, keep, now, log, Json } from "./parley";

export class Cached {
  constructor(
    public body: Json,
    public age: i64,
  ) {}
}

// Older responses are not used.
const OLDEST: i64 = 6 * 3600;

/** Returns the JSON at url, or a cached response that is at most maxAge seconds old. */
export function cached(key: string, maxAge: i64, url: string): Cached {
  const kept = recall(key);
  let age: i64 = -1;
  let body = "";
  if (kept) {
    const space = kept.indexOf(" ");
    age = now() - I64.parseInt(kept.substring(0, space));
    body = kept.substring(space + 1);
    if (age >= 0 && age <= maxAge) return new Cached(Json.parse(body), age);
  }
  const response = try_fetch(url);
  if (response.status == 200) {
    const fresh = Json.parse(response.body); // before it is stored: it may not be JSON
    keep(key, now().toString() + " " + response.body);
    return new Cached(fresh, 0);
  }
  const why = response.status == 0 ? response.body : "it answered with " + response.status.toString();
  if (age >= 0 && age <= max(maxAge, OLDEST)) {
    log("the weather service is not there, what was fetched before is told: " + why);
    return new Cached(Json.parse(body), age);
  }
  throw new Error("the weather service is not there: " + why);
}
