package main

import (
	"io"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operator-framework/api/pkg/lib/version"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	v1listers "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1"
	v1alpha1listers "github.com/operator-framework/operator-lifecycle-manager/pkg/api/client/listers/operators/v1alpha1"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/projection"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/lib/operatorlister"
	"github.com/operator-framework/operator-registry/pkg/client"
)

const subscriptionName = "subscription"

// cluster is what OLM's resolver can see of one: its listers and the registries of its catalogs. There is
// one for the life of the process, with one resolver and one cache, because each new one costs OLM
// goroutines it never gives back; a question replaces the content.
type cluster struct {
	groups, csvs, subscriptions, sources toolscache.Indexer
	registries                           registries
	snapshots                            *snapshots
	resolver                             *resolver.Resolver
}

func newCluster() *cluster {
	c := &cluster{groups: indexer(), csvs: indexer(), subscriptions: indexer(), sources: indexer(), registries: registries{}}
	catalogSources := v1alpha1listers.NewCatalogSourceLister(c.sources)
	lister := operatorlister.NewLister()
	lister.OperatorsV1().RegisterOperatorGroupLister(metav1.NamespaceAll, v1listers.NewOperatorGroupLister(c.groups))
	lister.OperatorsV1alpha1().RegisterClusterServiceVersionLister(metav1.NamespaceAll, v1alpha1listers.NewClusterServiceVersionLister(c.csvs))
	lister.OperatorsV1alpha1().RegisterSubscriptionLister(metav1.NamespaceAll, v1alpha1listers.NewSubscriptionLister(c.subscriptions))
	lister.OperatorsV1alpha1().RegisterCatalogSourceLister(metav1.NamespaceAll, catalogSources)
	c.snapshots = &snapshots{provider: resolver.SourceProviderFromRegistryClientProvider(c.registries, catalogSources, silent())}
	c.resolver = resolver.NewDefaultResolver(resolver.NewOperatorCacheProvider(lister, noSubscriptions{}, c.snapshots, silent()), silent())
	return c
}

// indexer has a namespace index: OLM's listers find nothing without one.
func indexer() toolscache.Indexer {
	return toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
}

func silent() *logrus.Logger {
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	logger.SetLevel(logrus.PanicLevel)
	return logger
}

// resolutions answers a v0Question.
func (c *cluster) resolutions(asked v0Question) (v0Answer, error) {
	q, err := asked.spelledOut()
	if err != nil {
		return v0Answer{}, err
	}
	if err := c.hold(q); err != nil {
		return v0Answer{}, err
	}
	answer := v0Answer{Installed: make([]outcome, len(q.Installed))}
	if answer.Fresh, err = c.resolve(q, nil); err != nil {
		return v0Answer{}, err
	}
	for i := range q.Installed {
		if answer.Installed[i], err = c.resolve(q, &q.Installed[i]); err != nil {
			return v0Answer{}, err
		}
	}
	return answer, nil
}

// hold gives the cluster the question's catalogs, and the one OperatorGroup OLM insists on.
func (c *cluster) hold(q v0Question) error {
	c.snapshots.forget()
	clear(c.registries)
	sources := make([]any, len(q.Catalogs))
	for i, served := range q.Catalogs {
		registryClient, err := serve(served)
		if err != nil {
			return err
		}
		c.registries[registry.CatalogKey{Name: served.Name, Namespace: served.Namespace}] = registryClient
		source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Name: served.Name, Namespace: served.Namespace}}
		source.Spec.Priority = served.Priority
		sources[i] = source
	}
	if err := c.sources.Replace(sources, ""); err != nil {
		return err
	}
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "group", Namespace: q.Subscription.Namespace}}
	return c.groups.Replace([]any{group}, "")
}

// resolve asks OLM about the subscription with one CSV installed, or none.
func (c *cluster) resolve(q v0Question, csv *installed) (outcome, error) {
	wanted := q.Subscription
	subscribed := &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: subscriptionName, Namespace: wanted.Namespace},
		Spec: &v1alpha1.SubscriptionSpec{
			CatalogSource: wanted.Catalog, CatalogSourceNamespace: wanted.CatalogNamespace,
			Package: wanted.Package, Channel: wanted.Channel, StartingCSV: wanted.Starting,
		},
	}
	var present []any
	if csv != nil {
		object, err := q.csvObject(*csv)
		if err != nil {
			return outcome{}, err
		}
		// Both, or OLM sees a fresh install (no object) or a freestanding operator (no status).
		subscribed.Status.InstalledCSV, subscribed.Status.CurrentCSV = csv.Name, csv.Name
		present = []any{object}
	}
	if err := c.csvs.Replace(present, ""); err != nil {
		return outcome{}, err
	}
	if err := c.subscriptions.Replace([]any{subscribed}, ""); err != nil {
		return outcome{}, err
	}
	return c.outcomeFor(subscribed), nil
}

func (q v0Question) csvObject(csv installed) (*v1alpha1.ClusterServiceVersion, error) {
	parsed, properties, err := q.onCluster(csv)
	if err != nil {
		return nil, err
	}
	annotation, err := projection.PropertiesAnnotationFromPropertyList(apiProperties(properties))
	if err != nil {
		return nil, err
	}
	object := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{
		Name: csv.Name, Namespace: q.Subscription.Namespace,
		Annotations: map[string]string{projection.PropertiesAnnotationKey: annotation},
	}}
	object.Spec.Version = version.OperatorVersion{Version: parsed}
	return object, nil
}

func (c *cluster) outcomeFor(subscribed *v1alpha1.Subscription) outcome {
	found := outcome{Resolved: []resolved{}}
	cause := panicked(func() {
		entries, err := c.resolver.Resolve([]string{subscribed.Namespace, globalNamespace}, []*v1alpha1.Subscription{subscribed})
		if err != nil {
			found.Error = text(err.Error())
		}
		for _, e := range entries {
			found.Resolved = append(found.Resolved, resolved{
				Name: e.Name, Package: e.Package(), Channel: e.Channel(), Catalog: e.SourceInfo.Catalog.Name, Replaces: e.Replaces,
			})
		}
	})
	if cause != "" {
		return outcome{Error: text(cause), Panicked: true, Resolved: []resolved{}}
	}
	slices.SortFunc(found.Resolved, func(a, b resolved) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range found.Resolved {
		if r.Package == subscribed.Spec.Package && r.Name != subscribed.Status.InstalledCSV {
			found.Pick = text(r.Name)
		}
	}
	return found
}

func text(s string) *string { return &s }

// registries is OLM's way to the gRPC client of a CatalogSource.
type registries map[registry.CatalogKey]client.Interface

func (r registries) ClientsForNamespaces(...string) map[registry.CatalogKey]client.Interface {
	return r
}
