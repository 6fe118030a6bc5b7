"""Compares Parquet files with what firstseen has kept of them, see README.md."""

import pyarrow.parquet as pq, pyarrow as pa, duckdb, sys, os
a,b=sys.argv[1:3]
bad=0
for f in sorted(os.listdir(a)):
    x=pq.read_table(f'{a}/{f}'); 
    try: y=pq.read_table(f'{b}/{f}')
    except Exception as e: print(f,'PYARROW',e); bad+=1; continue
    if x.schema!=y.schema or x.schema.metadata!=y.schema.metadata: print(f,'schema differs', x.schema.metadata, y.schema.metadata); bad+=1
    # kept rows by n
    ns=set(y['n'].to_pylist()); keep=x.filter(pa.array([v in ns for v in x['n'].to_pylist()]))
    if not keep.equals(y): 
        print(f,'rows differ',keep.num_rows,y.num_rows); bad+=1
        for c in keep.column_names:
            if keep[c].to_pylist()!=y[c].to_pylist(): print('  col',c, keep[c].to_pylist()[:5], y[c].to_pylist()[:5])
    da=duckdb.sql(f"select * from '{b}/{f}' order by n").fetchall(); 
    db=duckdb.sql(f"select * from '{a}/{f}' where n in (select n from '{b}/{f}') order by n").fetchall()
    if repr(da)!=repr(db): print(f,'duckdb differs'); bad+=1
    if duckdb.sql(f"describe select * from '{a}/{f}'").fetchall()!=duckdb.sql(f"describe select * from '{b}/{f}'").fetchall(): print(f,'duckdb schema'); bad+=1
print('files',len(os.listdir(a)),'bad',bad)
