/** An import of `node:http` would read all of its exports. The last of them load undici, which takes 30 ms at each start. */
export const { createServer, request: openRequest } = process.getBuiltinModule('node:http')
