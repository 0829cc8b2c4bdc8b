package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/operator-framework/api/pkg/manifests"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"github.com/operator-framework/api/pkg/validation"
	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operator-framework/operator-registry/pkg/lib/bundle"
)

// bundleQuestion names a bundle's folder, and what operator-sdk takes as optional values.
type bundleQuestion struct {
	asked
	Folder     string `json:"folder"`
	K8sVersion string `json:"k8sVersion"`
	IndexPath  string `json:"indexPath"`
}

// complaint is one error or warning of operator-framework/api, in its own words.
type complaint struct {
	Validator string `json:"validator"`
	Level     string `json:"level"`
	Type      string `json:"type"`
	Field     string `json:"field,omitempty"`
	Value     string `json:"value,omitempty"`
	Detail    string `json:"detail"`
}

// bundleAnswer.Load is why operator-framework/api could not load the folder; its validators then say
// nothing. Format and Content are what `opm alpha bundle validate` says, a line each.
type bundleAnswer struct {
	Load    string      `json:"load,omitempty"`
	Api     []complaint `json:"api"`
	Format  []string    `json:"format"`
	Content []string    `json:"content"`
}

type named struct {
	name      string
	validator interfaces.Validator
}

// validators are those of AllValidators but for multiarch, which runs a container engine, and
// operatorhub, which is operatorhub/v2 with two others.
var validators = []named{
	{"csv", validation.ClusterServiceVersionValidator},
	{"crd", validation.CustomResourceDefinitionValidator},
	{"bundle", validation.BundleValidator},
	{"operatorhub/v2", validation.OperatorHubV2Validator},
	{"standardcategories", validation.StandardCategoriesValidator},
	{"standardcapabilities", validation.StandardCapabilitiesValidator},
	{"object", validation.ObjectValidator},
	{"operatorgroup", validation.OperatorGroupValidator},
	{"community", validation.CommunityOperatorValidator},
	{"alpha-deprecated-apis", validation.AlphaDeprecatedAPIsValidator},
	{"good-practices", validation.GoodPracticesValidator},
}

func validateBundle(q bundleQuestion) (answer bundleAnswer, _ error) {
	defer quietly()()
	answer = bundleAnswer{Api: []complaint{}, Format: []string{}, Content: []string{}}
	var loaded *manifests.Bundle
	var err error
	if cause := panicked(func() { loaded, err = manifests.GetBundleFromDir(q.Folder) }); cause != "" {
		answer.Load = cause
	} else if err != nil {
		answer.Load = err.Error()
	}
	if answer.Load == "" {
		objects := append(loaded.ObjectsToValidate(), operatorGroups(loaded)...)
		objects = append(objects, map[string]string{"k8s-version": q.K8sVersion, "index-path": q.IndexPath})
		for _, v := range validators {
			answer.Api = append(answer.Api, complaints(v, objects)...)
		}
	}
	opm := bundle.NewImageValidator(nil, silent().WithField("", ""))
	answer.Format = lines(func() error { return opm.ValidateBundleFormat(q.Folder) })
	answer.Content = lines(func() error { return opm.ValidateBundleContent(filepath.Join(q.Folder, bundle.ManifestsDir)) })
	return answer, nil
}

// quietly keeps what a validator prints out of our answers, until the function it returns is called.
func quietly() func() {
	answers := os.Stdout
	os.Stdout = os.Stderr
	return func() { os.Stdout = answers }
}

// operatorGroups gives the OperatorGroup validator what its loader never does: typed objects.
func operatorGroups(loaded *manifests.Bundle) (groups []any) {
	for _, object := range loaded.Objects {
		if object.GetKind() == operatorsv1.OperatorGroupKind {
			group := &operatorsv1.OperatorGroup{}
			group.SetName(object.GetName())
			group.SetAnnotations(object.GetAnnotations())
			groups = append(groups, group)
		}
	}
	return groups
}

func complaints(v named, objects []any) (found []complaint) {
	var results []apierrors.ManifestResult
	if cause := panicked(func() { results = v.validator.Validate(objects...) }); cause != "" {
		return []complaint{{Validator: v.name, Level: "Panic", Detail: cause}}
	}
	for _, result := range results {
		for _, e := range append(result.Errors, result.Warnings...) {
			value := ""
			if e.BadValue != nil {
				value = fmt.Sprintf("%v", e.BadValue)
			}
			found = append(found, complaint{v.name, string(e.Level), string(e.Type), e.Field, value, e.Detail})
		}
	}
	return found
}

// lines are the errors of opm's bundle validator, one by one.
func lines(validate func() error) []string {
	said := []string{}
	var err error
	if cause := panicked(func() { err = validate() }); cause != "" {
		return []string{cause}
	}
	var all bundle.ValidationError
	if errors.As(err, &all) {
		for _, one := range all.Errors {
			said = append(said, one.Error())
		}
	} else if err != nil {
		said = append(said, err.Error())
	}
	return said
}

type manifestQuestion struct {
	asked
	File string `json:"file"`
}

// validatePackageManifest answers for the one file its validator looks at.
func validatePackageManifest(q manifestQuestion) (bundleAnswer, error) {
	answer := bundleAnswer{Api: []complaint{}, Format: []string{}, Content: []string{}}
	text, err := os.ReadFile(q.File)
	if err != nil {
		return answer, err
	}
	manifest := &manifests.PackageManifest{}
	if err := yaml.Unmarshal(text, manifest); err != nil {
		answer.Load = err.Error()
		return answer, nil
	}
	answer.Api = append(answer.Api, complaints(named{"packagemanifest", validation.PackageManifestValidator}, []any{manifest})...)
	return answer, nil
}
