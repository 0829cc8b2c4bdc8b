package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/operator-framework/operator-registry/alpha/property"
	"github.com/operator-framework/operator-registry/pkg/registry"
)

const (
	defaultCatalog   = "catalog"
	defaultPackage   = "p"
	globalNamespace  = "olm"       // where catalogs live that every namespace sees
	defaultNamespace = "operators" // where the subscription lives
)

// v0Question asks what OLM v0 would do for one Subscription: on a fresh install, and with each of
// Installed on the cluster. Channel is short for one catalog with one package with one channel.
type v0Question struct {
	asked
	Channel      *channel     `json:"channel"`
	Catalogs     []catalog    `json:"catalogs"`
	Subscription subscription `json:"subscription"`
	Starting     string       `json:"starting"` // short for subscription.starting
	Installed    []installed  `json:"installed"`
}

type catalog struct {
	Name      string       `json:"name"`
	Namespace string       `json:"namespace"`
	Priority  int          `json:"priority"`
	Packages  []olmPackage `json:"packages"`
}

type olmPackage struct {
	Name           string    `json:"name"`
	DefaultChannel string    `json:"defaultChannel"`
	Channels       []channel `json:"channels"`
}

type channel struct {
	Name           string  `json:"name"`
	Package        string  `json:"package"`        // short form only
	DefaultChannel string  `json:"defaultChannel"` // short form only; this channel if empty
	Entries        []entry `json:"entries"`
}

type entry struct {
	Name       string              `json:"name"`
	Version    string              `json:"version"`
	Replaces   string              `json:"replaces"`
	Skips      []string            `json:"skips"`
	SkipRange  string              `json:"skipRange"`
	Properties []property.Property `json:"properties"` // beside olm.package, which the version makes
}

type subscription struct {
	Package          string `json:"package"`
	Channel          string `json:"channel"`
	Catalog          string `json:"catalog"`
	CatalogNamespace string `json:"catalogNamespace"`
	Namespace        string `json:"namespace"`
	Starting         string `json:"starting"`
}

// installed is a CSV on the cluster; written as a bare name it has the version the catalogs give it.
type installed struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (i *installed) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &i.Name)
	}
	type plain installed // without this method, which would call itself
	return strictly(text, (*plain)(i))
}

type v0Answer struct {
	Fresh     outcome   `json:"fresh"`
	Installed []outcome `json:"installed"`
}

// outcome.Pick is what the subscription moves to; nil when it stays. Resolved is everything the resolver
// wants on the cluster: dependencies too, and the installed CSV itself when its own range covers it.
type outcome struct {
	Pick     *string    `json:"pick"`
	Error    *string    `json:"error"`
	Panicked bool       `json:"panicked,omitempty"`
	Resolved []resolved `json:"resolved"`
}

type resolved struct {
	Name     string `json:"name"`
	Package  string `json:"package"`
	Channel  string `json:"channel"`
	Catalog  string `json:"catalog"`
	Replaces string `json:"replaces,omitempty"`
}

// spelledOut turns the short form into the long one.
func (q v0Question) spelledOut() (v0Question, error) {
	if q.Channel == nil {
		if q.Starting != "" {
			return q, fmt.Errorf("starting goes with channel; write subscription.starting")
		}
		return q.withDefaults(), nil
	}
	if len(q.Catalogs) > 0 || q.Subscription != (subscription{}) {
		return q, fmt.Errorf("channel is short for catalogs and subscription; give one or the other")
	}
	shown := olmPackage{Name: or(q.Channel.Package, defaultPackage), DefaultChannel: or(q.Channel.DefaultChannel, q.Channel.Name)}
	shown.Channels = []channel{*q.Channel}
	q.Catalogs = []catalog{{Packages: []olmPackage{shown}}}
	q.Subscription = subscription{Package: shown.Name, Channel: q.Channel.Name, Starting: q.Starting, Catalog: defaultCatalog}
	return q.withDefaults(), nil
}

func (q v0Question) withDefaults() v0Question {
	named := make([]catalog, len(q.Catalogs))
	for i, c := range q.Catalogs {
		c.Name, c.Namespace = or(c.Name, defaultCatalog), or(c.Namespace, globalNamespace)
		named[i] = c
	}
	q.Catalogs = named
	q.Subscription.Namespace = or(q.Subscription.Namespace, defaultNamespace)
	if q.Subscription.Catalog != "" {
		q.Subscription.CatalogNamespace = or(q.Subscription.CatalogNamespace, globalNamespace)
	}
	return q
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// onCluster finds the version and properties an installed CSV has. The properties are those of its bundle on
// the day it was installed: without olm.deprecated, which OLM would not have installed.
func (q v0Question) onCluster(csv installed) (semver.Version, []property.Property, error) {
	known := q.find(csv.Name)
	if known == nil && csv.Version == "" {
		return semver.Version{}, nil, fmt.Errorf("installed %q is in no channel of the package: give its version", csv.Name)
	}
	seen := entry{Name: csv.Name, Version: csv.Version}
	if known != nil {
		seen.Version, seen.Properties = or(csv.Version, known.Version), slices.DeleteFunc(slices.Clone(known.Properties), isDeprecation)
	}
	version, err := semver.ParseTolerant(seen.Version)
	if err != nil {
		return semver.Version{}, nil, fmt.Errorf("installed %q cannot exist, version %q: %w", csv.Name, seen.Version, err)
	}
	return version, seen.allProperties(q.Subscription.Package), nil
}

func isDeprecation(p property.Property) bool { return p.Type == registry.DeprecatedType }

func (q v0Question) find(name string) *entry {
	for _, c := range q.Catalogs {
		for _, p := range c.Packages {
			if p.Name != q.Subscription.Package {
				continue
			}
			for _, ch := range p.Channels {
				for i := range ch.Entries {
					if ch.Entries[i].Name == name {
						return &ch.Entries[i]
					}
				}
			}
		}
	}
	return nil
}

func (e entry) allProperties(pkg string) []property.Property {
	return append([]property.Property{property.MustBuildPackage(pkg, e.Version)}, e.Properties...)
}
