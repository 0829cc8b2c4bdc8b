// Names the code that answers. build.sh copies it and puts the oracle inside: Go lets nobody else in.
module everpath.dev/tests/oracle_v1

go 1.23.4

require github.com/operator-framework/operator-controller v1.2.0
