import type { RouteName } from '../../contract/routes.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { createDirectory, listDirectory } from './directory-routes.ts'
import {
  createAssetViewUrl,
  createResourceViewUrl,
  downloadAsset,
  downloadFrame,
  downloadResource,
  downloadScene,
} from './download-routes.ts'
import { checkAccess, createLibrary, deleteLibrary, listLibraries, showLibrary } from './library-routes.ts'
import { deleteResource, showResource } from './resource-routes.ts'
import { searchResources } from './search-resources.ts'
import { uploadFile } from './upload-file.ts'

/** The endpoint of each route of the contract. */
export const ENDPOINTS = {
  checkAccess,
  downloadAsset,
  downloadScene,
  downloadFrame,
  createAssetViewUrl,
  listLibraries,
  createLibrary,
  showLibrary,
  deleteLibrary,
  listDirectory,
  createDirectory,
  uploadFile,
  showResource,
  deleteResource,
  searchResources,
  downloadResource,
  createResourceViewUrl,
} satisfies Record<RouteName, Endpoint>
