import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Node keeps compiled code for all tests of this user: nobody else's code is used. */
export const COMPILE_CACHE =
  process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), `node-compile-cache-${process.getuid?.() ?? 'user'}`)
