package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"

	"github.com/operator-framework/operator-registry/pkg/client"
)

type registryQuestion struct {
	asked
	Address string `json:"address"`
}

// registryAnswer is what OLM's own client learns of a registry: enough to tell two servers apart.
type registryAnswer struct {
	Healthy  bool              `json:"healthy"`
	Bundles  int               `json:"bundles"`
	Messages map[string]string `json:"messages"`
	Services []string          `json:"services"`
}

// askRegistry walks a registry as OLM does: ListBundles, then each package, then the head of each channel.
// A message is known by a hash of its deterministic encoding, so unknown fields would show, too.
func askRegistry(q registryQuestion) (registryAnswer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	answer := registryAnswer{Messages: map[string]string{}}
	registry, err := client.NewClient(q.Address)
	if err != nil {
		return answer, err
	}
	defer registry.Close()
	if answer.Healthy, err = registry.HealthCheck(ctx, time.Second); err != nil {
		return answer, err
	}
	bundles, err := registry.ListBundles(ctx)
	if err != nil {
		return answer, err
	}
	packages := map[string]bool{}
	for bundle := bundles.Next(); bundle != nil; bundle = bundles.Next() {
		answer.Bundles++
		packages[bundle.GetPackageName()] = true
		answer.Messages[fmt.Sprintf("ListBundles %d", answer.Bundles)] = known(bundle)
	}
	if err := bundles.Error(); err != nil {
		return answer, err
	}
	for name := range packages {
		if err := askPackage(ctx, registry, name, answer.Messages); err != nil {
			return answer, err
		}
	}
	answer.Services, err = services(ctx, q.Address)
	return answer, err
}

func askPackage(ctx context.Context, registry *client.Client, name string, into map[string]string) error {
	pkg, err := registry.GetPackage(ctx, name)
	if err != nil {
		return err
	}
	into["GetPackage "+name] = known(pkg)
	for _, channel := range pkg.GetChannels() {
		where := name + " " + channel.GetName()
		head, err := registry.GetBundleInPackageChannel(ctx, name, channel.GetName())
		if err != nil {
			return err
		}
		into["GetBundleForChannel "+where] = known(head)
		bundle, err := registry.GetBundle(ctx, name, channel.GetName(), channel.GetCsvName())
		if err != nil {
			return err
		}
		into["GetBundle "+where] = known(bundle)
	}
	_, err = registry.GetBundle(ctx, name, "no such channel", "")
	into["no channel of "+name] = fmt.Sprint(err)
	return nil
}

// services lists what a server says of itself, as grpcurl asks it.
func services(ctx context.Context, address string) ([]string, error) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	stream, err := reflectionpb.NewServerReflectionClient(connection).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	if err := stream.Send(&reflectionpb.ServerReflectionRequest{
		MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
	}); err != nil {
		return nil, err
	}
	response, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, service := range response.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	return names, stream.CloseSend()
}

func known(message proto.Message) string {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return err.Error()
	}
	hash := fnv.New128a()
	hash.Write(text)
	return hex.EncodeToString(hash.Sum(nil))
}
