package main

import (
	"context"
	"encoding/json"

	"helm.sh/helm/v3/pkg/release"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1client "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operator-framework/operator-controller/internal/operator-controller/rukpak/preflights/crdupgradesafety"
)

type definitionsQuestion struct {
	asked
	Old      json.RawMessage `json:"old"`
	Manifest string          `json:"manifest"`
}

type definitionsAnswer struct {
	Refusal  string `json:"refusal,omitempty"`
	Panicked string `json:"panicked,omitempty"`
}

// found is a cluster that holds one definition.
type found struct {
	apiextensionsv1client.CustomResourceDefinitionInterface
	definition *apiextensionsv1.CustomResourceDefinition
}

func (f found) Get(context.Context, string, metav1.GetOptions) (*apiextensionsv1.CustomResourceDefinition, error) {
	return f.definition.DeepCopy(), nil
}

// upgradeDefinition asks the preflight whether a release's manifest may replace what the cluster holds.
func upgradeDefinition(question definitionsQuestion) (definitionsAnswer, error) {
	var answer definitionsAnswer
	old, err := fetched(question.Old)
	if err != nil {
		return answer, err
	}
	preflight := crdupgradesafety.NewPreflight(found{definition: old})
	answer.Panicked = panicked(func() {
		err := preflight.Upgrade(context.Background(), &release.Release{Name: "r", Manifest: question.Manifest})
		if err != nil {
			answer.Refusal = err.Error()
		}
	})
	return answer, nil
}

// fetched is a definition as a client gets it: the API server writes the values inside in one way only.
func fetched(text []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	raw := &unstructured.Unstructured{}
	if err := raw.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	made := &apiextensionsv1.CustomResourceDefinition{}
	return made, runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, made)
}
