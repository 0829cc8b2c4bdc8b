package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/template"
)

type opmQuestion struct {
	asked
	Catalog string `json:"catalog"`
}

// opmAnswer.Stage says where opm stopped: "load" (the text is no catalog), "convert" (the first fault
// found, alone) or "validate" (a tree of all faults, in random order).
type opmAnswer struct {
	Accepts bool   `json:"accepts"`
	Error   string `json:"error,omitempty"`
	Stage   string `json:"stage,omitempty"`
}

func opmVerdict(q opmQuestion) (answer opmAnswer, _ error) {
	stage := "load"
	cause := panicked(func() {
		config, err := declcfg.LoadReader(strings.NewReader(q.Catalog))
		if err != nil {
			answer = opmAnswer{Error: err.Error(), Stage: stage}
			return
		}
		stage = "convert"
		_, err = declcfg.ConvertToModel(*config)
		answer = convertVerdict(err)
	})
	if cause != "" {
		return opmAnswer{Error: cause, Stage: stage}, nil
	}
	return answer, nil
}

// convertVerdict tells a fault of the conversion from a tree of the validation. Their error type is not
// exported; the root of every tree is "invalid index", with which no other message begins.
func convertVerdict(err error) opmAnswer {
	if err == nil {
		return opmAnswer{Accepts: true}
	}
	stage := "convert"
	if strings.HasPrefix(err.Error(), "invalid index:\n") {
		stage = "validate"
	}
	return opmAnswer{Error: err.Error(), Stage: stage}
}

// templateQuestion.Bundles is what each image would render to, as catalog text.
type templateQuestion struct {
	asked
	Type    string            `json:"type"`
	Text    string            `json:"text"`
	Bundles map[string]string `json:"bundles"`
}

type templateAnswer struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error,omitempty"`
	Catalog string `json:"catalog,omitempty"`
}

func renderTemplate(q templateQuestion) (answer templateAnswer, _ error) {
	images := func(_ context.Context, image string) (*declcfg.DeclarativeConfig, error) {
		text, known := q.Bundles[image]
		if !known {
			return nil, fmt.Errorf("image %q is not among the question's bundles", image)
		}
		return declcfg.LoadReader(strings.NewReader(text))
	}
	kind, err := template.NewRegistry().CreateTemplateByType(q.Type, images)
	if err != nil {
		return templateAnswer{}, err
	}
	cause := panicked(func() { answer = rendered(kind, q.Text) })
	if cause != "" {
		return templateAnswer{Error: cause}, nil
	}
	return answer, nil
}

func rendered(kind template.Template, text string) templateAnswer {
	config, err := kind.Render(context.Background(), strings.NewReader(text))
	if err != nil {
		return templateAnswer{Error: err.Error()}
	}
	var written bytes.Buffer
	if err := declcfg.WriteJSON(*config, &written); err != nil {
		return templateAnswer{Error: err.Error()}
	}
	return templateAnswer{OK: true, Catalog: written.String()}
}
