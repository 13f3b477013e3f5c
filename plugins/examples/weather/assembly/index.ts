// A tool for Parley boxes: the weather from Open-Meteo, cached for a quarter of an
// hour, so that a second question is answered at once and without the network.
import { tool, serve, setting, Json } from "./parley";
import { cached } from "./cache";
import { described } from "./codes";

const MINUTES: i64 = 60;
const DAYS: i64 = 24 * 60 * MINUTES;

tool("weather", (parameters: Json): string => {
  let asked = parameters.get("place").text().trim();
  if (asked == "") asked = setting("place");
  const day = dayOf(parameters.get("day").text());
  if (day < 0) return "The forecast reaches from today to the day after tomorrow.";

  const found = cached(
    "place " + asked.toLowerCase(),
    30 * DAYS,
    "https://geocoding-api.open-meteo.com/v1/search?count=1&language=en&name=" + encodeURIComponent(asked),
  )
    .body.get("results")
    .items();
  if (found.length == 0) return "There is no place called " + asked + " that the weather service knows.";

  const imperial = setting("units") == "imperial";
  const where = "latitude=" + degrees(found[0].get("latitude")) + "&longitude=" + degrees(found[0].get("longitude"));
  const forecast = cached(
    "forecast " + where + (imperial ? " F" : ""),
    15 * MINUTES,
    "https://api.open-meteo.com/v1/forecast?" +
      where +
      "&timezone=auto&forecast_days=3&current=temperature_2m,weather_code" +
      "&daily=weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max" +
      (imperial ? "&temperature_unit=fahrenheit" : ""),
  );
  // Only an old response, used because the service does not answer, needs its age.
  const age = forecast.age < 60 * MINUTES ? "" : " That is what was forecast " + hours(forecast.age) + " ago.";
  return tell(forecast.body, found[0].get("name").text(), day) + age;
});

serve();

function dayOf(name: string): i32 {
  if (name == "" || name == "today" || name == "now") return 0;
  return name == "tomorrow" ? 1 : name == "the day after tomorrow" ? 2 : -1;
}

// Two decimal places are a kilometre, and keep the cache small.
function degrees(value: Json): string {
  const hundredths = <i64>Math.round(value.number() * 100);
  const rest = abs(hundredths % 100);
  return (hundredths < 0 ? "-" : "") + abs(hundredths / 100).toString() + (rest < 10 ? ".0" : ".") + rest.toString();
}

function hours(seconds: i64): string {
  const n = seconds / 3600;
  return n == 1 ? "an hour" : n.toString() + " hours";
}

// Describes the weather of a day in spoken words.
function tell(forecast: Json, place: string, day: i32): string {
  const daily = forecast.get("daily");
  const codes = daily.get("weather_code").items();
  const warmest = daily.get("temperature_2m_max").items();
  const coldest = daily.get("temperature_2m_min").items();
  const rain = daily.get("precipitation_probability_max").items();
  if (codes.length <= day || warmest.length <= day || coldest.length <= day)
    throw new Error("the weather service sent no forecast for that day");

  const range = "from " + whole(coldest[day]) + " to " + whole(warmest[day]) + " degrees";
  const chance = rain.length > day ? rain[day].number() : NaN;
  const wet =
    isNaN(chance) || chance < 20
      ? ""
      : " The chance of rain is " + Math.round(chance).toString().replace(".0", "") + " percent.";
  if (day > 0)
    return (
      (day == 1 ? "Tomorrow" : "The day after tomorrow") +
      " in " +
      place +
      ": " +
      described(codes[day].number()) +
      ", " +
      range +
      "." +
      wet
    );

  const current = forecast.get("current");
  return (
    "In " +
    place +
    " it is " +
    whole(current.get("temperature_2m")) +
    " degrees now: " +
    described(current.get("weather_code").number()) +
    ". Today goes " +
    range +
    "." +
    wet
  );
}

// Formats a temperature as it is spoken.
function whole(value: Json): string {
  const n = <i32>Math.round(value.number());
  return n < 0 ? "minus " + (-n).toString() : n.toString();
}
