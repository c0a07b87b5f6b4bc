/** Importing `node:http` reads all of its exports, and the last of them load undici, which costs each start 30 ms. */
export const { createServer, request: openRequest } = process.getBuiltinModule('node:http')
