package main

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"

	"github.com/klauspost/compress/gzhttp"

	"github.com/operator-framework/operator-controller/internal/catalogd/storage"
)

// catalogdQuestion has a folder stored under a name, below Storage, and served for as long as the oracle runs.
type catalogdQuestion struct {
	asked
	Name    string `json:"name"`
	Folder  string `json:"folder"`
	Storage string `json:"storage"`
}

// catalogdAnswer is where to ask for it, or why it is not stored.
type catalogdAnswer struct {
	Port    int    `json:"port,omitempty"`
	Refusal string `json:"refusal,omitempty"`
}

// serveCatalog puts catalogd's storage behind its handlers, on a port of the loopback address. Its log, its
// metrics and its certificate are left out: they change no answer.
func serveCatalog(question catalogdQuestion) (catalogdAnswer, error) {
	root := &url.URL{Scheme: "http", Host: "localhost", Path: "/catalogs/"}
	stored := &storage.LocalDirV1{RootDir: question.Storage, RootURL: root, EnableMetasHandler: true}
	if err := stored.Store(context.Background(), question.Name, os.DirFS(question.Folder)); err != nil {
		return catalogdAnswer{Refusal: err.Error()}, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return catalogdAnswer{}, err
	}
	go func() { _ = http.Serve(listener, gzhttp.GzipHandler(stored.StorageServerHandler())) }()
	return catalogdAnswer{Port: listener.Addr().(*net.TCPAddr).Port}, nil
}
