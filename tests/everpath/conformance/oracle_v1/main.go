// The OLM v1 oracle answers everpath's questions with operator-controller's resolver, its semver library, and
// catalogd's storage.
//
// It speaks as tests/everpath/conformance/oracle does: one JSON object a line in, one out, in the same order. A question that
// cannot be put to their code is answered {"refused": why}; a panic of theirs is an answer.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

var kinds = map[string]func(question []byte) (any, error){
	"about":      put(about),
	"catalogd":   put(serveCatalog),
	"constraint": put(checkConstraint),
	"definition": put(upgradeDefinition),
	"extension":  put(resolveExtension),
}

// asked is the part every question has.
type asked struct {
	Ask string `json:"ask"`
}

// put lets a typed question be asked by its JSON text. Unknown fields are refused: a misspelt one would let
// two systems agree about the wrong graph.
func put[Q, A any](answer func(Q) (A, error)) func([]byte) (any, error) {
	return func(text []byte) (any, error) {
		var question Q
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&question); err != nil {
			return nil, err
		}
		return answer(question)
	}
}

func answer(line []byte) any {
	var question asked
	if err := json.Unmarshal(line, &question); err != nil {
		return map[string]string{"refused": fmt.Sprintf("not a question: %v", err)}
	}
	ask, known := kinds[question.Ask]
	if !known {
		return map[string]string{"refused": fmt.Sprintf("unknown question %q", question.Ask)}
	}
	found, err := ask(line)
	if err != nil {
		return map[string]string{"refused": err.Error()}
	}
	return found
}

// serve answers until the input ends, and writes out whenever no further question is waiting.
func serve(in io.Reader, out io.Writer) error {
	questions := bufio.NewReaderSize(in, 1<<20)
	answers := bufio.NewWriterSize(out, 1<<20)
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	for {
		line, ended := questions.ReadBytes('\n')
		if len(line) > 0 {
			if err := encoder.Encode(answer(line)); err != nil {
				return err
			}
		}
		if questions.Buffered() == 0 || ended != nil {
			if err := answers.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(ended, io.EOF) {
			return nil
		}
		if ended != nil {
			return ended
		}
	}
}

// panicked runs a function of theirs and returns the text of its panic, or "".
func panicked(run func()) (text string) {
	defer func() {
		if cause := recover(); cause != nil {
			text = fmt.Sprintf("panic: %v", cause)
		}
	}()
	run()
	return ""
}

type aboutAnswer struct {
	Modules map[string]string `json:"modules"`
}

// about says whose code answers. The module that it sits in has no version there: its go.mod names it.
func about(asked) (aboutAnswer, error) {
	found := aboutAnswer{Modules: map[string]string{}}
	if build, ok := debug.ReadBuildInfo(); ok {
		found.Modules["main"] = build.Main.Path
		for _, module := range build.Deps {
			found.Modules[module.Path] = module.Version
		}
	}
	return found, nil
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle_v1:", err)
		os.Exit(1)
	}
}
