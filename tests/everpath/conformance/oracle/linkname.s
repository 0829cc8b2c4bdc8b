// Its presence lets definitions.go declare a function without a body: the linker finds the real one.
