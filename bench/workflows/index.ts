export * from '../../workflows/index.ts';
export { empty } from './empty.ts';
