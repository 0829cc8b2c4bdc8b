package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
)

// typesAnswer.Types names the fields of every struct that a manifest of a bundle is decoded into, each
// "name type". A type is a Go word, "[]T", "map T", "any", a struct's name, or "!T" where T decodes itself.
type typesAnswer struct {
	Types map[string][]string `json:"types"`
}

var (
	decoder     = reflect.TypeFor[json.Unmarshaler]()
	textDecoder = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawMessage  = reflect.TypeFor[json.RawMessage]()
)

func goTypes(asked) (typesAnswer, error) {
	found := types{}
	found.name(reflect.TypeFor[v1alpha1.ClusterServiceVersion]())
	found.name(reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]())
	found.name(reflect.TypeFor[apiextensionsv1beta1.CustomResourceDefinition]())
	return typesAnswer{found}, nil
}

type types map[string][]string

func (t types) name(of reflect.Type) string {
	if of.Kind() == reflect.Pointer {
		return t.name(of.Elem())
	}
	if of == rawMessage {
		return "any"
	}
	if pointer := reflect.PointerTo(of); pointer.Implements(decoder) || pointer.Implements(textDecoder) {
		return "!" + of.Name()
	}
	switch of.Kind() {
	case reflect.Struct:
		return t.structure(of)
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + t.name(of.Elem())
	case reflect.Map:
		return "map " + t.name(of.Elem())
	case reflect.Interface:
		return "any"
	default:
		return of.Kind().String()
	}
}

func (t types) structure(of reflect.Type) string {
	name := group(of.PkgPath()) + "." + of.Name()
	if _, known := t[name]; !known {
		t[name] = []string{}
		t[name] = t.fields(of)
	}
	return name
}

func (t types) fields(of reflect.Type) []string {
	fields := []string{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case field.Anonymous && name == "":
			fields = append(fields, t.fields(field.Type)...)
		default:
			if name == "" {
				name = field.Name
			}
			fields = append(fields, fmt.Sprintf("%s %s", name, t.name(field.Type)))
		}
	}
	return fields
}

// group is what tells the packages apart that are all called v1.
func group(pkg string) string {
	if last := path.Base(pkg); last != "v1" {
		return last
	}
	return path.Base(path.Dir(pkg))
}
