/** A bare HTTP server, whose answers take what any answer takes on this machine now. */
import { createServer } from 'node:http'

const server = createServer((_request, response) => response.end('{}'))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  process.send?.({ kind: 'ready', url: `http://127.0.0.1:${port}`, token: '' })
})
process.on('disconnect', () => process.exit())
