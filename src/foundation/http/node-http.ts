/**
 * The parts of `node:http` that are used here. An `import` of the module reads all of its exports, and the last of them load
 * Node's own copy of undici, which costs each start 30 ms.
 */
export const { createServer, request: openRequest } = process.getBuiltinModule('node:http')
