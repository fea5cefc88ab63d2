/** A small stand-in for the editor's API, for unit tests of modules that import it. In-host tests use the real one. */

export * from "./editor";
