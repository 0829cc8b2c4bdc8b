package main

import (
	mmsemver "github.com/Masterminds/semver/v3"
	bsemver "github.com/blang/semver/v4"
)

type constraintQuestion struct {
	asked
	Constraint string   `json:"constraint"`
	Versions   []string `json:"versions"`
}

// constraintAnswer.Matches holds true or false, or nil for what no bundle can have as its version.
type constraintAnswer struct {
	Parses  bool   `json:"parses"`
	Error   string `json:"error,omitempty"`
	Matches []any  `json:"matches"`
}

func checkConstraint(q constraintQuestion) (constraintAnswer, error) {
	constraint, err := mmsemver.NewConstraint(q.Constraint)
	if err != nil {
		return constraintAnswer{Error: err.Error(), Matches: []any{}}, nil
	}
	answer := constraintAnswer{Parses: true, Matches: make([]any, len(q.Versions))}
	for i, text := range q.Versions {
		answer.Matches[i] = check(constraint, text)
	}
	return answer, nil
}

// check reads a version as the resolver does: blang first, then Masterminds what blang prints.
func check(constraint *mmsemver.Constraints, text string) any {
	strict, err := bsemver.Parse(text)
	if err != nil {
		return nil
	}
	version, err := mmsemver.NewVersion(strict.String())
	if err != nil {
		return "unreadable"
	}
	return constraint.Check(version)
}
