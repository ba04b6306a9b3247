package faucet

import (
	"bytes"
	"encoding/json"
	"errors"
	"faucet/internal/misuse"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ReadConfig puts a configuration (JSON text) into a struct, and reports everything that does not fit at once, each with
// its path. Fields are named by their json tags, and further tags say more about them:
//
//	Method  string   `json:"method" enum:"redact,hash" default:"redact" doc:"How to mask."`
//	Columns []string `json:"columns" doc:"Names of text columns."`
//	Salt    *string  `json:"salt" doc:"Text put before the value."`
//
// A field must be given unless it has a default, is a pointer, or is tagged omitempty. Other keys are refused. Fields may
// be booleans, numbers, strings, structs, slices, maps from strings, pointers to these, any, and types that unmarshal
// themselves from JSON.
func ReadConfig(text string, into any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return Wrong("", "is not JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Wrong("", "is not JSON")
	}
	var problems ConfigError
	decode(&problems, "", value, reflect.ValueOf(into).Elem())
	if len(problems) > 0 {
		return problems
	}
	return nil
}

func (e *ConfigError) add(path, format string, arguments ...any) {
	*e = append(*e, Problem{path, fmt.Sprintf(format, arguments...)})
}

func decode(problems *ConfigError, path string, value any, into reflect.Value) {
	if custom, is := into.Addr().Interface().(json.Unmarshaler); is {
		text, _ := json.Marshal(value)
		if err := custom.UnmarshalJSON(text); err != nil {
			problems.add(path, "%s", err)
		}
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		if value != nil {
			into.Set(reflect.New(into.Type().Elem()))
			decode(problems, path, value, into.Elem())
		}
	case reflect.Struct:
		decodeStruct(problems, path, value, into)
	case reflect.Slice:
		decodeSlice(problems, path, value, into)
	case reflect.Map:
		decodeMap(problems, path, value, into)
	default:
		decodeScalar(problems, path, value, into)
	}
}

func decodeScalar(problems *ConfigError, path string, value any, into reflect.Value) {
	text, _ := json.Marshal(value)
	decoder := json.NewDecoder(bytes.NewReader(text))
	if decoder.Decode(into.Addr().Interface()) != nil || value == nil && into.Kind() != reflect.Interface {
		problems.add(path, "must be %s, not %s", wanted(into.Type()), given(value))
	}
}

// field is a field of a struct as its tags describe it.
type field struct {
	reflect.StructField
	key      string
	required bool
}

func fields(of reflect.Type) []field {
	var list []field
	for _, f := range reflect.VisibleFields(of) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || key == "-" {
			continue
		}
		if key == "" {
			key = f.Name
		}
		_, hasDefault := f.Tag.Lookup("default")
		optional := hasDefault || f.Type.Kind() == reflect.Pointer || strings.Contains(options, "omitempty")
		list = append(list, field{f, key, !optional})
	}
	return list
}

func decodeStruct(problems *ConfigError, path string, value any, into reflect.Value) {
	object, is := value.(map[string]any)
	if !is {
		problems.add(path, "must be an object, not %s", given(value))
		return
	}
	known := fields(into.Type())
	for _, f := range known {
		member, has := object[f.key]
		switch target := into.FieldByIndex(f.Index); {
		case has && member != nil:
			decodeField(problems, under(path, f.key), member, target, f)
		case f.required:
			problems.add(under(path, f.key), "is missing")
		default:
			setDefault(target, f)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(known, func(f field) bool { return f.key == key }) {
			problems.add(under(path, key), "is not a setting of this plugin")
		}
	}
}

func decodeField(problems *ConfigError, path string, value any, into reflect.Value, f field) {
	before := len(*problems)
	decode(problems, path, value, into)
	choices, has := f.Tag.Lookup("enum")
	text, isText := value.(string)
	if has && isText && len(*problems) == before && !slices.Contains(strings.Split(choices, ","), text) {
		problems.add(path, "must be one of %s", strings.ReplaceAll(choices, ",", ", "))
	}
}

// setDefault reads the tag `default`: JSON, or text without its quotes.
func setDefault(into reflect.Value, f field) {
	text, has := f.Tag.Lookup("default")
	if !has {
		return
	}
	if into.Kind() == reflect.String {
		into.SetString(text)
	} else if err := json.Unmarshal([]byte(text), into.Addr().Interface()); err != nil {
		misuse.Panicf("the default of setting '%s' is not of its type", f.key)
	}
}

func decodeSlice(problems *ConfigError, path string, value any, into reflect.Value) {
	list, is := value.([]any)
	if !is {
		problems.add(path, "must be a list, not %s", given(value))
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
	for i, item := range list {
		decode(problems, fmt.Sprintf("%s[%d]", path, i), item, into.Index(i))
	}
}

func decodeMap(problems *ConfigError, path string, value any, into reflect.Value) {
	object, is := value.(map[string]any)
	if !is {
		problems.add(path, "must be an object, not %s", given(value))
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		item := reflect.New(into.Type().Elem()).Elem()
		decode(problems, under(path, key), object[key], item)
		into.SetMapIndex(reflect.ValueOf(key).Convert(into.Type().Key()), item)
	}
}

func under(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func given(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

func wanted(of reflect.Type) string {
	switch kind := of.Kind(); {
	case kind == reflect.Bool:
		return "true or false"
	case kind == reflect.String:
		return "a text"
	case kind == reflect.Float32 || kind == reflect.Float64:
		return "a number"
	case kind >= reflect.Uint && kind <= reflect.Uint64:
		return "an integer of at least 0 that fits"
	default:
		return "an integer that fits"
	}
}
