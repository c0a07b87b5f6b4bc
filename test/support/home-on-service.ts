import { join } from 'node:path'
import { type FaultyOptions, type FaultyService, startFaultyService } from './faulty-service.ts'
import { type Home, temporaryHome } from './home.ts'
import type { Tree } from './temporary.ts'

interface HomeOnService {
  readonly service: FaultyService
  readonly home: Home
  /** The directory "Papers". */
  readonly root: string
}

/** A home whose service is configured and has the library "Research"; with a tree it has the directory "Papers". */
export async function homeOnService(papers?: Tree, options: FaultyOptions = {}): Promise<HomeOnService> {
  const service = await startFaultyService({ library: 'Research', ...options })
  const home = temporaryHome(service)
  return { service, home, root: papers ? home.write('Papers', papers) : join(home.path, 'Papers') }
}
