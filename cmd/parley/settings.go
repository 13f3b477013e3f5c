package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/internal/layout"
)

// settingsTag is the tag of a kong.Plugins field that lists the settings which a command
// has as flags: their keys, or * for all of them, grouped.
const settingsTag = "settings"

// withSettings adds to every command the flags of its settings, made from the table of
// settings, and returns the command line.
func withSettings(c *commandLine) *commandLine {
	addSettings(reflect.ValueOf(c).Elem())
	return c
}

// settingsFileTag is the tag of the flag that names a file with settings.
const settingsFileTag = "settingsfile"

func addSettings(command reflect.Value) {
	for i := range command.NumField() {
		field := command.Field(i)
		keys, has := command.Type().Field(i).Tag.Lookup(settingsTag)
		switch {
		case has:
			first := command.Type().Field(i).Name == "Settings"
			field.Set(reflect.ValueOf(kong.Plugins{settingFlags(keys, first)}))
		case field.Kind() == reflect.Struct:
			addSettings(field)
		}
	}
}

// settingFlags returns a pointer to a struct with the flags of these settings as fields
// with kong's tags, and with --config if first is set.
func settingFlags(keys string, first bool) any {
	var fields []reflect.StructField
	if first {
		fields = append(fields, flagField(0, `name:"config"`, "placeholder", "FILE", "predictor", "file",
			settingsFileTag, "true",
			"help", "Read settings from this file (else ./parley.yaml, else that of the data folder, else that in "+
				layout.SystemSettings+")."))
	}
	for _, s := range config.Settings() {
		all := keys == "*"
		if s.FileOnly() || !all && !slices.Contains(strings.Fields(keys), s.Key) {
			continue
		}
		tags := []string{"name", s.Flag, "setting", s.Key, "placeholder", s.Placeholder, "help", flagHelp(s)}
		switch {
		case s.Placeholder == "DIR":
			tags = append(tags, "predictor", "dir")
		case s.Placeholder == "FILE":
			tags = append(tags, "predictor", "file")
		case len(allowedWords(s)) > 0:
			tags = append(tags, "predictor", "setting "+s.Key)
		}
		if all {
			tags = append(tags, "group", s.Group+":")
		}
		field := flagField(len(fields), "", tags...)
		if s.Switch {
			field.Type = reflect.TypeFor[bool]()
		}
		fields = append(fields, field)
	}
	for _, s := range config.OldSettings() {
		if s.Flag != "" && (keys == "*" || slices.Contains(strings.Fields(keys), s.PartOf)) {
			fields = append(fields, flagField(len(fields), "hidden:\"\"", "name", s.Flag, "setting", s.Key,
				"placeholder", s.Placeholder, "help", s.Help))
		}
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

func flagField(n int, tag string, more ...string) reflect.StructField {
	for i := 0; i+1 < len(more); i += 2 {
		tag += " " + more[i] + ":" + strconv.Quote(more[i+1])
	}
	return reflect.StructField{Name: fmt.Sprintf("Flag%d", n), Type: reflect.TypeFor[string](),
		Tag: reflect.StructTag(tag)}
}

// flagHelp returns the help of a setting with its default.
func flagHelp(s config.Setting) string {
	if s.DefaultText() == "" {
		return s.Help
	}
	return strings.TrimSuffix(s.Help, ".") + " (default: " + s.DefaultText() + ")."
}

// config loads the configuration from the flags of the command and the other sources.
func (c *console) config(parsed *kong.Context) (config.Config, error) {
	sources := config.Sources{Flags: map[string]string{}, Environ: c.environ}
	for _, flag := range parsed.Flags() {
		if !flag.Set {
			continue
		}
		value := fmt.Sprint(parsed.FlagValue(flag))
		if key := flag.Tag.Get("setting"); key != "" {
			sources.Flags[key] = value
		} else if flag.Tag.Has(settingsFileTag) {
			sources.File = value
		}
	}
	cfg, err := config.Load(sources)
	if err != nil {
		return cfg, misuse{err}
	}
	c.data = cfg.Data
	return cfg, nil
}
