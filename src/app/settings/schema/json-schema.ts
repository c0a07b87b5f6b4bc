import { z } from 'zod'
import { configSchema } from './schema.ts'

/** The JSON Schema of the configuration file, for editors; config/config.schema.json holds the same. */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(configSchema, { io: 'input' })
  return `${JSON.stringify({ title: 'shelfd configuration', ...schema }, null, 2)}\n`
}
