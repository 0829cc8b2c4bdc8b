package main

import (
	"fmt"

	"github.com/blang/semver/v4"
)

type rangeQuestion struct {
	asked
	Range    string   `json:"range"`
	Versions []string `json:"versions"`
}

// rangeAnswer.Matches holds true, false, "panic" or, for what is not a strict version, nil.
type rangeAnswer struct {
	Parses  bool   `json:"parses"`
	Error   string `json:"error,omitempty"`
	Matches []any  `json:"matches"`
}

func matchRange(q rangeQuestion) (rangeAnswer, error) {
	var matches semver.Range
	var err error
	if text := panicked(func() { matches, err = semver.ParseRange(q.Range) }); text != "" {
		return rangeAnswer{Error: text, Matches: []any{}}, nil
	}
	if err != nil {
		return rangeAnswer{Error: err.Error(), Matches: []any{}}, nil
	}
	answer := rangeAnswer{Parses: true, Matches: make([]any, len(q.Versions))}
	for i, text := range q.Versions {
		answer.Matches[i] = matchVersion(matches, text)
	}
	return answer, nil
}

func matchVersion(matches semver.Range, text string) (verdict any) {
	version, err := semver.Parse(text)
	if err != nil {
		return nil
	}
	if panicked(func() { verdict = matches(version) }) != "" {
		return "panic"
	}
	return verdict
}

type versionQuestion struct {
	asked
	Text string `json:"text"`
}

type reading struct {
	OK     bool   `json:"ok"`
	Normal string `json:"normal,omitempty"`
	Error  string `json:"error,omitempty"`
}

type versionAnswer struct {
	Strict   reading `json:"strict"`
	Tolerant reading `json:"tolerant"`
}

func parseVersion(q versionQuestion) (versionAnswer, error) {
	return versionAnswer{Strict: read(semver.Parse, q.Text), Tolerant: read(semver.ParseTolerant, q.Text)}, nil
}

func read(parse func(string) (semver.Version, error), text string) (found reading) {
	cause := panicked(func() {
		version, err := parse(text)
		if err != nil {
			found.Error = err.Error()
			return
		}
		found = reading{OK: true, Normal: version.String()}
	})
	if cause != "" {
		return reading{Error: cause}
	}
	return found
}

type compareQuestion struct {
	asked
	A string `json:"a"`
	B string `json:"b"`
}

type compareAnswer struct {
	Order int `json:"order"`
}

// compareVersions answers -1, 0 or 1 as A is below, equal to or above B.
func compareVersions(q compareQuestion) (compareAnswer, error) {
	a, err := semver.Parse(q.A)
	if err != nil {
		return compareAnswer{}, fmt.Errorf("a: %w", err)
	}
	b, err := semver.Parse(q.B)
	if err != nil {
		return compareAnswer{}, fmt.Errorf("b: %w", err)
	}
	return compareAnswer{Order: a.Compare(b)}, nil
}
