package main

import (
	"context"
	"encoding/json"
	_ "unsafe" // go:linkname

	"github.com/operator-framework/api/crds"
	// Imported to be linked: what go:linkname names lies there.
	_ "github.com/operator-framework/operator-lifecycle-manager/pkg/controller/operators/catalog"
	crdlib "github.com/operator-framework/operator-lifecycle-manager/pkg/lib/crd"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic"
)

// The function that the catalog operator asks before it replaces a definition; exported nowhere.
//
//go:linkname validateV1CRDCompatibility github.com/operator-framework/operator-lifecycle-manager/pkg/controller/operators/catalog.validateV1CRDCompatibility
func validateV1CRDCompatibility(dynamic.Interface, *apiextensionsv1.CustomResourceDefinition, *apiextensionsv1.CustomResourceDefinition) error

type definitionQuestion struct {
	asked
	Old     definition `json:"old"`
	New     definition `json:"new"`
	Objects []object   `json:"objects"`
}

// definition is read as OLM reads one: keywords that Kubernetes does not know are dropped.
type definition struct {
	apiextensionsv1.CustomResourceDefinition
}

func (d *definition) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &d.CustomResourceDefinition)
}

type object struct {
	Version string  `json:"version"`
	Content content `json:"content"`
}

// content is read as clients read objects: whole numbers stay whole.
type content map[string]any

func (c *content) UnmarshalJSON(text []byte) error {
	return utiljson.Unmarshal(text, (*map[string]any)(c))
}

// olmDefinitions are the definitions that OLM brings for its own kinds.
func olmDefinitions(asked) (definitionsAnswer, error) {
	return definitionsAnswer{[]*apiextensionsv1.CustomResourceDefinition{
		crds.CatalogSource(), crds.ClusterServiceVersion(), crds.InstallPlan(), crds.OLMConfig(), crds.Operator(),
		crds.OperatorCondition(), crds.OperatorGroup(), crds.Subscription(),
	}}, nil
}

type definitionsAnswer struct {
	Definitions []*apiextensionsv1.CustomResourceDefinition `json:"definitions"`
}

type definitionAnswer struct {
	// Stored is what OLM says of the versions that the cluster stored objects in.
	Stored string `json:"stored,omitempty"`
	// Server is what the API server says of the update.
	Server []string `json:"server"`
	// Objects is, of each object, whether it is one and whether OLM lets the upgrade pass it.
	Objects []objectAnswer `json:"objects"`
}

type objectAnswer struct {
	Was     bool   `json:"was"`
	Refusal string `json:"refusal,omitempty"`
}

// held is a cluster that holds one object, read in one version.
type held struct {
	dynamic.NamespaceableResourceInterface
	object object
}

func (h held) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	if resource.Version != h.object.Version {
		return held{}
	}
	return h
}

func (h held) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if h.object.Content == nil {
		return &unstructured.UnstructuredList{}, nil
	}
	return &unstructured.UnstructuredList{Items: []unstructured.Unstructured{{Object: h.object.Content}}}, nil
}

// upgradeDefinition asks the catalog operator whether a definition may replace another, object by object.
func upgradeDefinition(question definitionQuestion) (definitionAnswer, error) {
	answer := definitionAnswer{Objects: []objectAnswer{}, Server: []string{}}
	old, updated := &question.Old.CustomResourceDefinition, &question.New.CustomResourceDefinition
	if _, err := crdlib.SafeStorageVersionUpgrade(old, updated); err != nil {
		answer.Stored = err.Error()
	}
	there, coming := &apiextensions.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := internal(old, there); err != nil {
		return answer, err
	}
	if err := internal(updated, coming); err != nil {
		return answer, err
	}
	coming.Status, coming.ResourceVersion, there.ResourceVersion = there.Status, "1", "1"
	for _, err := range crdvalidation.ValidateCustomResourceDefinitionUpdate(context.Background(), coming, there) {
		answer.Server = append(answer.Server, err.Error())
	}
	before, err := checkers(old)
	if err != nil {
		return answer, err
	}
	for _, object := range question.Objects {
		content := map[string]any(object.Content)
		problems := validation.ValidateCustomResource(field.NewPath(""), content, before[object.Version])
		found := objectAnswer{Was: len(problems) == 0}
		if err := validateV1CRDCompatibility(held{object: object}, old, updated); err != nil {
			found.Refusal = err.Error()
		}
		answer.Objects = append(answer.Objects, found)
	}
	return answer, nil
}

// internal gives a definition the shape that the API server works on.
func internal(from *apiextensionsv1.CustomResourceDefinition, to *apiextensions.CustomResourceDefinition) error {
	made := from.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&made.Spec)
	return apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(made, to, nil)
}

// checkers makes what checks objects of a definition, by version.
func checkers(definition *apiextensionsv1.CustomResourceDefinition) (map[string]validation.SchemaValidator, error) {
	made := map[string]validation.SchemaValidator{}
	for _, version := range definition.Spec.Versions {
		converted := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, converted, nil); err != nil {
			return nil, err
		}
		validator, _, err := validation.NewSchemaValidator(converted.OpenAPIV3Schema)
		if err != nil {
			return nil, err
		}
		made[version.Name] = validator
	}
	return made, nil
}
