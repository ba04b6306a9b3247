package faucet

import (
	"encoding/json"
	"faucet/internal/misuse"
	"reflect"
	"strings"
)

// SchemaOf is the JSON Schema of a configuration's Go type, as [ReadConfig] reads it.
func SchemaOf[C any]() string {
	schema := schemaOf(reflect.TypeFor[C]())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	text, err := json.Marshal(schema)
	if err != nil {
		misuse.Panicf("the schema of the configuration: %s", err)
	}
	return string(text)
}

func schemaOf(of reflect.Type) map[string]any {
	if reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return map[string]any{}
	}
	switch kind := of.Kind(); {
	case kind == reflect.Pointer:
		return schemaOf(of.Elem())
	case kind == reflect.Struct:
		return structSchema(of)
	case kind == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(of.Elem())}
	case kind == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(of.Elem())}
	case kind == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case kind == reflect.String:
		return map[string]any{"type": "string"}
	case kind == reflect.Float32 || kind == reflect.Float64:
		return map[string]any{"type": "number"}
	case kind >= reflect.Int && kind <= reflect.Int64:
		return map[string]any{"type": "integer"}
	case kind >= reflect.Uint && kind <= reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	default:
		return map[string]any{}
	}
}

func structSchema(of reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fields(of) {
		properties[f.key] = fieldSchema(f)
		if f.required {
			required = append(required, f.key)
		}
	}
	schema := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func fieldSchema(f field) map[string]any {
	schema := schemaOf(f.Type)
	if doc, has := f.Tag.Lookup("doc"); has {
		schema["description"] = doc
	}
	if choices, has := f.Tag.Lookup("enum"); has {
		schema["enum"] = strings.Split(choices, ",")
	}
	if text, has := f.Tag.Lookup("default"); has {
		schema["default"] = json.RawMessage(text)
		if f.Type.Kind() == reflect.String {
			schema["default"] = text
		}
	}
	return schema
}
