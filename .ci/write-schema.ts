/** Writes the JSON Schema of the configuration file into config/, as `shelfd config schema` prints it. */
import { writeFileSync } from 'node:fs'
import { configJsonSchema } from '../src/app/settings/schema.ts'

writeFileSync(new URL('../config/config.schema.json', import.meta.url), configJsonSchema())
