package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned"
	typedv1alpha1 "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/clientset/versioned/typed/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	"github.com/operator-framework/operator-registry/alpha/model"
	"github.com/operator-framework/operator-registry/alpha/property"
	"github.com/operator-framework/operator-registry/pkg/api"
	"github.com/operator-framework/operator-registry/pkg/client"
)

// served is the part of a catalog's gRPC registry that OLM's resolver calls. The bundles go through
// opm's own conversion but not through its validation, so a catalog that opm rejects can be asked about.
type served struct {
	client.Interface // nil: any other call is a mistake of the oracle and panics
	bundles          []*api.Bundle
	packages         map[string]*api.Package
}

func serve(c catalog) (*served, error) {
	registry := &served{packages: map[string]*api.Package{}}
	for _, p := range c.Packages {
		registry.packages[p.Name] = &api.Package{Name: p.Name, DefaultChannelName: p.DefaultChannel}
		for _, ch := range p.Channels {
			for _, e := range ch.Entries {
				bundle, err := apiBundle(p, ch, e)
				if err != nil {
					return nil, fmt.Errorf("catalog %q cannot be served: %w", c.Name, err)
				}
				registry.bundles = append(registry.bundles, bundle)
			}
		}
	}
	slices.SortStableFunc(registry.bundles, inListingOrder)
	return registry, nil
}

// inListingOrder is the order in which opm lists bundles: channel first, then package, then name.
func inListingOrder(a, b *api.Bundle) int {
	return cmp.Or(cmp.Compare(a.ChannelName, b.ChannelName), cmp.Compare(a.PackageName, b.PackageName), cmp.Compare(a.CsvName, b.CsvName))
}

func apiBundle(p olmPackage, ch channel, e entry) (*api.Bundle, error) {
	return api.ConvertModelBundleToAPIBundle(model.Bundle{
		Package: &model.Package{Name: p.Name}, Channel: &model.Channel{Name: ch.Name},
		Name: e.Name, Image: "example.com/bundle", Replaces: e.Replaces, Skips: e.Skips, SkipRange: e.SkipRange,
		Properties: e.allProperties(p.Name),
	})
}

func apiProperties(properties []property.Property) []*api.Property {
	converted := make([]*api.Property, len(properties))
	for i, p := range properties {
		converted[i] = &api.Property{Type: p.Type, Value: string(p.Value)}
	}
	return converted
}

func (s *served) ListBundles(context.Context) (*client.BundleIterator, error) {
	return client.NewBundleIterator(&listing{left: s.bundles}), nil
}

func (s *served) GetPackage(_ context.Context, name string) (*api.Package, error) {
	found, known := s.packages[name]
	if !known {
		return nil, fmt.Errorf("package %q not found", name)
	}
	return found, nil
}

type listing struct{ left []*api.Bundle }

func (l *listing) Recv() (*api.Bundle, error) {
	if len(l.left) == 0 {
		return nil, io.EOF
	}
	next := l.left[0]
	l.left = l.left[1:]
	return next, nil
}

// snapshots stands between OLM's cache and OLM's catalog sources. A snapshot is taken once a question and
// handed out as valid once: OLM's cache then drops it when the next question comes, instead of holding it
// (and a goroutine) for half an hour.
type snapshots struct {
	provider cache.SourceProvider
	taken    map[cache.SourceKey]*snapshot
}

func (s *snapshots) forget() { s.taken = map[cache.SourceKey]*snapshot{} }

func (s *snapshots) Sources(namespaces ...string) map[cache.SourceKey]cache.Source {
	sources := map[cache.SourceKey]cache.Source{}
	for key, source := range s.provider.Sources(namespaces...) {
		if s.taken[key] == nil {
			s.taken[key] = &snapshot{source: source}
		}
		sources[key] = s.taken[key]
	}
	return sources
}

type snapshot struct {
	source cache.Source
	once   sync.Once
	taken  *cache.Snapshot
	err    error
}

func (s *snapshot) Snapshot(ctx context.Context) (*cache.Snapshot, error) {
	s.once.Do(func() {
		var entries *cache.Snapshot
		if entries, s.err = s.source.Snapshot(ctx); s.err == nil {
			s.taken = &cache.Snapshot{Entries: entries.Entries, Valid: cache.ValidOnce()}
		}
	})
	return s.taken, s.err
}

// noSubscriptions is the API server, as far as OLM asks it: whether a CSV its listers show without a
// Subscription has one after all.
type noSubscriptions struct{ versioned.Interface }

func (noSubscriptions) OperatorsV1alpha1() typedv1alpha1.OperatorsV1alpha1Interface {
	return noOperators{}
}

type noOperators struct {
	typedv1alpha1.OperatorsV1alpha1Interface
}

func (noOperators) Subscriptions(string) typedv1alpha1.SubscriptionInterface { return emptyList{} }

type emptyList struct {
	typedv1alpha1.SubscriptionInterface
}

func (emptyList) List(context.Context, metav1.ListOptions) (*v1alpha1.SubscriptionList, error) {
	return &v1alpha1.SubscriptionList{}, nil
}
