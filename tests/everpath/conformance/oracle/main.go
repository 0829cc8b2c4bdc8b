// The oracle answers everpath's questions with the code of opm, OLM v0 and blang/semver.
//
// It reads one JSON object a line and writes one JSON object a line, in the same order. A question that
// cannot be put to their code (unknown kind, malformed JSON) is answered {"refused": why}; everything
// else, a panic of theirs included, is an answer.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
)

type refusal struct {
	Refused string `json:"refused"`
}

type oracle struct {
	kinds map[string]func(question []byte) (any, error)
}

func newOracle() *oracle {
	cluster := newCluster()
	return &oracle{kinds: map[string]func([]byte) (any, error){
		"about":           put(about),
		"range":           put(matchRange),
		"version":         put(parseVersion),
		"compare":         put(compareVersions),
		"opm":             put(opmVerdict),
		"template":        put(renderTemplate),
		"render":          put(renderFolders),
		"v0":              put(cluster.resolutions),
		"bundle":          put(validateBundle),
		"definition":      put(upgradeDefinition),
		"olmDefinitions":  put(olmDefinitions),
		"packageManifest": put(validatePackageManifest),
		"registry":        put(askRegistry),
		"types":           put(goTypes),
	}}
}

// asked is the part every question has.
type asked struct {
	Ask string `json:"ask"`
}

// put lets a typed question be asked by its JSON text.
func put[Q, A any](answer func(Q) (A, error)) func([]byte) (any, error) {
	return func(text []byte) (any, error) {
		var question Q
		if err := strictly(text, &question); err != nil {
			return nil, err
		}
		return answer(question)
	}
}

// strictly decodes and refuses unknown fields: a misspelt one would let two systems agree about the
// wrong graph.
func strictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func (o *oracle) answer(line []byte) any {
	var question asked
	if err := json.Unmarshal(line, &question); err != nil {
		return refusal{fmt.Sprintf("not a question: %v", err)}
	}
	ask, known := o.kinds[question.Ask]
	if !known {
		return refusal{fmt.Sprintf("unknown question %q", question.Ask)}
	}
	answer, err := ask(line)
	if err != nil {
		return refusal{err.Error()}
	}
	return answer
}

// serve answers until the input ends. Answers are written out whenever no further question is waiting,
// so one question at a time and thousands in flight both work.
func (o *oracle) serve(in io.Reader, out io.Writer) error {
	questions := bufio.NewReaderSize(in, 1<<20)
	answers := bufio.NewWriterSize(out, 1<<20)
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	for {
		line, err := questions.ReadBytes('\n')
		if len(line) > 0 {
			if err := encoder.Encode(o.answer(line)); err != nil {
				return err
			}
		}
		if questions.Buffered() == 0 || err != nil {
			if err := answers.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
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
	Go         string            `json:"go"`
	Modules    map[string]string `json:"modules"`
	Goroutines int               `json:"goroutines"`
	HeapBytes  uint64            `json:"heapBytes"`
}

// about says whose code answers, and what the process holds: a leak shows here.
func about(asked) (aboutAnswer, error) {
	answer := aboutAnswer{Go: runtime.Version(), Modules: map[string]string{}, Goroutines: runtime.NumGoroutine()}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			answer.Modules[module.Path] = module.Version
		}
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	answer.HeapBytes = memory.HeapAlloc
	return answer, nil
}

func main() {
	if err := newOracle().serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}
