/** Returns the words for a WMO weather code; Open-Meteo uses only these. */
export function described(code: f64): string {
  switch (<i32>code) {
    case 0:
      return "clear sky";
    case 1:
      return "mostly clear";
    case 2:
      return "some clouds";
    case 3:
      return "overcast";
    case 45:
    case 48:
      return "fog";
    case 51:
    case 53:
    case 55:
      return "drizzle";
    case 56:
    case 57:
      return "freezing drizzle";
    case 61:
      return "light rain";
    case 63:
      return "rain";
    case 65:
      return "heavy rain";
    case 66:
    case 67:
      return "freezing rain";
    case 71:
      return "light snow";
    case 73:
      return "snow";
    case 75:
      return "heavy snow";
    case 77:
      return "snow grains";
    case 80:
    case 81:
      return "showers";
    case 82:
      return "heavy showers";
    case 85:
    case 86:
      return "snow showers";
    case 95:
      return "a thunderstorm";
    case 96:
    case 99:
      return "a thunderstorm with hail";
  }
  return "changeable";
}
