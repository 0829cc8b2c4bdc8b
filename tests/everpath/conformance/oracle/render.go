package main

import (
	"bytes"
	"context"
	"io"
	"text/template"

	"github.com/sirupsen/logrus"

	"github.com/operator-framework/operator-registry/alpha/action"
	"github.com/operator-framework/operator-registry/alpha/action/migrations"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/pkg/image"
)

// renderQuestion asks what `opm render` writes of folders: bundles or catalogs. Image is the template of
// bundle folders' images, Migrate a migration level, Output "json" or "yaml".
type renderQuestion struct {
	asked
	Folders []string `json:"folders"`
	Image   string   `json:"image"`
	Migrate string   `json:"migrate"`
	Output  string   `json:"output"`
}

type renderAnswer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`
}

// noImages stands where opm would pull: a folder that is not there is an image to it.
type noImages struct{ image.Registry }

func renderFolders(q renderQuestion) (answer renderAnswer, _ error) {
	logrus.SetOutput(io.Discard)
	render := action.Render{Refs: q.Folders, Registry: noImages{}}
	if q.Image != "" {
		images, err := template.New("image").Parse(q.Image)
		if err != nil {
			return answer, err
		}
		render.ImageRefTemplate = images
	}
	if q.Migrate != "" {
		level, err := migrations.NewMigrations(q.Migrate)
		if err != nil {
			return answer, err
		}
		render.Migrations = level
	}
	cause := panicked(func() { answer = foldersRendered(render, q.Output) })
	if cause != "" {
		return renderAnswer{Error: cause}, nil
	}
	return answer, nil
}

func foldersRendered(render action.Render, output string) renderAnswer {
	config, err := render.Run(context.Background())
	if err != nil {
		return renderAnswer{Error: err.Error()}
	}
	write := declcfg.WriteJSON
	if output == "yaml" {
		write = declcfg.WriteYAML
	}
	var written bytes.Buffer
	if err := write(*config, &written); err != nil {
		return renderAnswer{Error: err.Error()}
	}
	return renderAnswer{OK: true, Text: written.String()}
}
