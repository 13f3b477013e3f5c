//! The units and their spoken names.

/// Exponents of metre, kilogram and second.
pub type Dimensions = [i8; 3];

pub const NONE: Dimensions = [0, 0, 0];

/// A unit: a value in it times factor is one in metres, kilograms and seconds.
pub struct Unit {
    pub names: &'static [&'static str], // the first two are spoken: singular and plural
    pub factor: f64,
    pub dimensions: Dimensions,
}

const LENGTH: Dimensions = [1, 0, 0];
const AREA: Dimensions = [2, 0, 0];
const VOLUME: Dimensions = [3, 0, 0];
const MASS: Dimensions = [0, 1, 0];
const TIME: Dimensions = [0, 0, 1];
const SPEED: Dimensions = [1, 0, -1];

const fn unit(names: &'static [&'static str], factor: f64, dimensions: Dimensions) -> Unit {
    Unit { names, factor, dimensions }
}

/// The first unit of a dimension is the default for results. Units that differ by
/// country are those of the United States.
pub const UNITS: &[Unit] = &[
    unit(&["meter", "meters", "m", "metre", "metres"], 1.0, LENGTH),
    unit(&["kilometer", "kilometers", "km", "kilometre", "kilometres"], 1000.0, LENGTH),
    unit(&["centimeter", "centimeters", "cm", "centimetre", "centimetres"], 0.01, LENGTH),
    unit(&["millimeter", "millimeters", "mm", "millimetre", "millimetres"], 0.001, LENGTH),
    unit(&["inch", "inches", "in"], 0.0254, LENGTH),
    unit(&["foot", "feet", "ft"], 0.3048, LENGTH),
    unit(&["yard", "yards", "yd"], 0.9144, LENGTH),
    unit(&["mile", "miles", "mi"], 1609.344, LENGTH),
    unit(&["nautical mile", "nautical miles", "nmi"], 1852.0, LENGTH),
    unit(&["square meter", "square meters", "m2", "m²", "sqm"], 1.0, AREA),
    unit(&["square foot", "square feet", "ft2", "sqft"], 0.092_903_04, AREA),
    unit(&["hectare", "hectares", "ha"], 10_000.0, AREA),
    unit(&["acre", "acres"], 4_046.856_422_4, AREA),
    unit(&["liter", "liters", "l", "litre", "litres"], 0.001, VOLUME),
    unit(&["milliliter", "milliliters", "ml", "millilitre", "millilitres"], 1e-6, VOLUME),
    unit(&["cubic meter", "cubic meters", "m3", "m³"], 1.0, VOLUME),
    unit(&["teaspoon", "teaspoons", "tsp"], 4.928_921_593_75e-6, VOLUME),
    unit(&["tablespoon", "tablespoons", "tbsp"], 14.786_764_781_25e-6, VOLUME),
    unit(&["fluid ounce", "fluid ounces", "floz"], 29.573_529_562_5e-6, VOLUME),
    unit(&["cup", "cups"], 236.588_236_5e-6, VOLUME),
    unit(&["pint", "pints", "pt"], 473.176_473e-6, VOLUME),
    unit(&["quart", "quarts", "qt"], 946.352_946e-6, VOLUME),
    unit(&["gallon", "gallons", "gal"], 3.785_411_784e-3, VOLUME),
    unit(&["kilogram", "kilograms", "kg", "kilo", "kilos"], 1.0, MASS),
    unit(&["gram", "grams", "g"], 0.001, MASS),
    unit(&["milligram", "milligrams", "mg"], 1e-6, MASS),
    unit(&["tonne", "tonnes", "t"], 1000.0, MASS),
    unit(&["ounce", "ounces", "oz"], 0.028_349_523_125, MASS),
    unit(&["pound", "pounds", "lb", "lbs"], 0.453_592_37, MASS),
    unit(&["stone", "stone", "st"], 6.350_293_18, MASS),
    unit(&["second", "seconds", "s", "sec"], 1.0, TIME),
    unit(&["minute", "minutes", "min"], 60.0, TIME),
    unit(&["hour", "hours", "h", "hr"], 3600.0, TIME),
    unit(&["day", "days", "d"], 86_400.0, TIME),
    unit(&["week", "weeks"], 604_800.0, TIME),
    unit(&["meter per second", "meters per second", "mps"], 1.0, SPEED),
    unit(&["kilometer per hour", "kilometers per hour", "kmh", "kph"], 1000.0 / 3600.0, SPEED),
    unit(&["mile per hour", "miles per hour", "mph"], 0.447_04, SPEED),
    unit(&["knot", "knots"], 1852.0 / 3600.0, SPEED),
];

/// Finds a unit by one of its names, as written or in lower case.
pub fn find(name: &str) -> Option<&'static Unit> {
    let lower = name.to_lowercase();
    UNITS.iter().find(|u| u.names.iter().any(|n| *n == name || *n == lower))
}

/// The conversion between kelvin and another temperature scale.
pub struct Scale {
    pub spoken: &'static str,
    pub step: f64,
    pub zero: f64, // in kelvin
}

/// Finds a temperature scale by its name.
pub fn scale(name: &str) -> Option<Scale> {
    let name = name.trim().to_lowercase().replace('°', "").replace("degrees", "").replace("degree", "");
    match name.trim() {
        "c" | "celsius" => Some(Scale { spoken: "degrees Celsius", step: 1.0, zero: 273.15 }),
        "f" | "fahrenheit" => Some(Scale { spoken: "degrees Fahrenheit", step: 5.0 / 9.0, zero: 459.67 * 5.0 / 9.0 }),
        "k" | "kelvin" => Some(Scale { spoken: "kelvin", step: 1.0, zero: 0.0 }),
        _ => None,
    }
}
