package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operator-framework/operator-registry/alpha/declcfg"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"github.com/operator-framework/operator-controller/internal/operator-controller/catalogmetadata/cache"
	catalogclient "github.com/operator-framework/operator-controller/internal/operator-controller/catalogmetadata/client"
	"github.com/operator-framework/operator-controller/internal/operator-controller/resolve"
)

type catalog struct {
	Name     string `json:"name"`
	Priority int32  `json:"priority"`
	Text     string `json:"text"`
}

type bundle struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// extensionQuestion.Installed is asked about one by one; nil is a fresh install. Cached sends the catalogs
// through operator-controller's own cache folder, which keeps one document of a name, instead of handing
// them over as they are; their order is then a matter of chance.
type extensionQuestion struct {
	asked
	Catalogs      []catalog `json:"catalogs"`
	Package       string    `json:"package"`
	Channels      []string  `json:"channels"`
	Version       string    `json:"version"`
	SelfCertified bool      `json:"selfCertified"`
	Installed     []*bundle `json:"installed"`
	Cached        bool      `json:"cached"`
}

// pick is what is resolved, or Error. Deprecations names the catalog whose olm.deprecations is returned.
type pick struct {
	Name         string `json:"name,omitempty"`
	Version      string `json:"version,omitempty"`
	Catalog      string `json:"catalog,omitempty"`
	Deprecations string `json:"deprecations,omitempty"`
	Error        string `json:"error,omitempty"`
	Panicked     bool   `json:"panicked,omitempty"`
}

type extensionAnswer struct {
	Picks []pick `json:"picks"`
}

// shelf gives each catalog's documents of a package anew: the resolver filters them in place.
type shelf func(catalogName, packageName string) (*declcfg.DeclarativeConfig, error)

func resolveExtension(q extensionQuestion) (extensionAnswer, error) {
	open, clear, err := shelved(q)
	if err != nil {
		return extensionAnswer{}, err
	}
	defer clear()
	answer := extensionAnswer{Picks: make([]pick, len(q.Installed))}
	for i, installed := range q.Installed {
		answer.Picks[i] = q.resolve(open, installed)
	}
	return answer, nil
}

func (q extensionQuestion) resolve(open shelf, installed *bundle) (found pick) {
	owners := map[*declcfg.Deprecation]string{}
	resolver := resolve.CatalogResolver{
		WalkCatalogsFunc: resolve.CatalogWalker(q.clusterCatalogs, func(_ context.Context, cat *ocv1.ClusterCatalog, name string) (*declcfg.DeclarativeConfig, error) {
			config, err := open(cat.Name, name)
			if err != nil {
				return nil, err
			}
			for i := range config.Bundles {
				config.Bundles[i].Image = cat.Name
			}
			for i := range config.Deprecations {
				owners[&config.Deprecations[i]] = cat.Name
			}
			return config, nil
		}),
		Validations: []resolve.ValidationFunc{resolve.NoDependencyValidation},
	}
	ctx := log.IntoContext(context.Background(), logr.Discard())
	if text := panicked(func() {
		chosen, version, deprecation, err := resolver.Resolve(ctx, q.extension(), metadata(installed))
		if err != nil {
			found = pick{Error: err.Error()}
			return
		}
		found = pick{Name: chosen.Name, Version: version.String(), Catalog: chosen.Image, Deprecations: owners[deprecation]}
	}); text != "" {
		return pick{Error: text, Panicked: true}
	}
	return found
}

func (q extensionQuestion) clusterCatalogs(context.Context, ...client.ListOption) ([]ocv1.ClusterCatalog, error) {
	found := make([]ocv1.ClusterCatalog, len(q.Catalogs))
	for i, c := range q.Catalogs {
		found[i] = clusterCatalog(c)
	}
	return found, nil
}

func (q extensionQuestion) extension() *ocv1.ClusterExtension {
	policy := ocv1.UpgradeConstraintPolicyCatalogProvided
	if q.SelfCertified {
		policy = ocv1.UpgradeConstraintPolicySelfCertified
	}
	return &ocv1.ClusterExtension{
		ObjectMeta: metav1.ObjectMeta{Name: "extension"},
		Spec: ocv1.ClusterExtensionSpec{Source: ocv1.SourceConfig{SourceType: "Catalog", Catalog: &ocv1.CatalogFilter{
			PackageName: q.Package, Version: q.Version, Channels: q.Channels, UpgradeConstraintPolicy: policy,
		}}},
	}
}

func metadata(installed *bundle) *ocv1.BundleMetadata {
	if installed == nil {
		return nil
	}
	return &ocv1.BundleMetadata{Name: installed.Name, Version: installed.Version}
}

func clusterCatalog(c catalog) ocv1.ClusterCatalog {
	return ocv1.ClusterCatalog{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name},
		Spec:       ocv1.ClusterCatalogSpec{Priority: c.Priority},
		Status: ocv1.ClusterCatalogStatus{
			Conditions:     []metav1.Condition{{Type: ocv1.TypeServing, Status: metav1.ConditionTrue}},
			ResolvedSource: &ocv1.ResolvedCatalogSource{Type: ocv1.SourceTypeImage, Image: &ocv1.ResolvedImageSource{Ref: "everpath"}},
		},
	}
}

func shelved(q extensionQuestion) (shelf, func(), error) {
	if q.Cached {
		return throughCache(q.Catalogs)
	}
	loaded := map[string]*declcfg.DeclarativeConfig{}
	for _, c := range q.Catalogs {
		config, err := declcfg.LoadReader(strings.NewReader(c.Text))
		if err != nil {
			return nil, nil, fmt.Errorf("catalog %q: %w", c.Name, err)
		}
		loaded[c.Name] = config
	}
	open := func(catalogName, packageName string) (*declcfg.DeclarativeConfig, error) {
		return only(packageName, loaded[catalogName]), nil
	}
	return open, func() {}, nil
}

// only copies one package's documents, as a package's own folder in the cache holds them.
func only(packageName string, config *declcfg.DeclarativeConfig) *declcfg.DeclarativeConfig {
	kept := &declcfg.DeclarativeConfig{}
	for _, p := range config.Packages {
		if p.Name == packageName {
			kept.Packages = append(kept.Packages, p)
		}
	}
	for _, c := range config.Channels {
		if c.Package == packageName {
			kept.Channels = append(kept.Channels, c)
		}
	}
	for _, b := range config.Bundles {
		if b.Package == packageName {
			kept.Bundles = append(kept.Bundles, b)
		}
	}
	for _, d := range config.Deprecations {
		if d.Package == packageName {
			kept.Deprecations = append(kept.Deprecations, d)
		}
	}
	return kept
}

func throughCache(catalogs []catalog) (shelf, func(), error) {
	folder, err := os.MkdirTemp("", "oracle-v1-")
	if err != nil {
		return nil, nil, err
	}
	clear := func() { _ = os.RemoveAll(folder) }
	store := cache.NewFilesystemCache(folder)
	for _, c := range catalogs {
		if _, err := store.Put(c.Name, "everpath", strings.NewReader(c.Text), nil); err != nil {
			clear()
			return nil, nil, fmt.Errorf("catalog %q: %w", c.Name, err)
		}
	}
	reader := catalogclient.New(store, nil)
	open := func(catalogName, packageName string) (*declcfg.DeclarativeConfig, error) {
		served := clusterCatalog(catalog{Name: catalogName})
		return reader.GetPackage(context.Background(), &served, packageName)
	}
	return open, clear, nil
}
