// The peer: Microsoft's server library as it comes, with one request that gives the checksum of a
// document. Run as `node node_server.cjs FOLDER --stdio`, where FOLDER holds `node_modules`.
"use strict";

const { createRequire } = require("node:module");
const { crc32 } = require("node:zlib");

const load = createRequire(`${process.argv[2]}/`);
const { createConnection, ProposedFeatures, TextDocuments, TextDocumentSyncKind } = load(
  "vscode-languageserver/node",
);
const { TextDocument } = load("vscode-languageserver-textdocument");

const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);

connection.onInitialize(() => ({
  capabilities: {
    textDocumentSync: TextDocumentSyncKind.Incremental,
    codeLensProvider: {},
  },
}));
connection.onCodeLens(() => []);
connection.onRequest("test/crc", ({ uri }) => crc32(documents.get(uri).getText()));
documents.listen(connection);
connection.listen();
